import { Command } from 'commander';
import { Catalog, describeModel } from '../catalog/catalog.ts';
import { loadConfig } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { checkModels } from './models-check.ts';
import { importModels } from './models-import.ts';
import { print, type JsonOption } from './session.ts';

/** `models list|check|import`. */
export function modelsCommand(): Command {
  const command = new Command('models').description('The model catalogue.');
  command
    .command('list')
    .description('list the models that a configured provider serves')
    .option('--all', 'also those whose provider has no key')
    .option('--json', 'print one JSON object')
    .action(list);
  command
    .command('check')
    .description('check models, prices, limits and routes; exit code 1 on any failure')
    .option('--live', 'also send one small request along every route that is on, which costs what it costs')
    .option('--json', 'print one JSON object')
    .action(checkModels);
  command
    .command('import')
    .description("print entries for tollgate.yaml: the models of a provider's own list that the catalogue lacks")
    .requiredOption('--provider <id>', 'a provider that is switched on')
    .option('--prices <file>', 'a table of prices in JSON: USD per token, by model')
    .option('--json', 'print one JSON object')
    .action(importModels);
  return command;
}

async function list(options: JsonOption & { readonly all?: boolean }): Promise<void> {
  const config = loadConfig(process.env);
  const catalog = new Catalog(config.models, (provider) => options.all === true || config.providers.has(provider));
  const { models: discovered, silent } = await discoverModels(config);
  for (const [provider, found] of discovered) catalog.discover(provider, found);
  for (const [provider, reason] of silent) process.stderr.write(`The models of ${provider} are not listed: ${reason}.\n`);
  const models = catalog.list();
  const width = Math.max(...models.map((model) => model.id.length));
  const lines = models.map((model) => `${model.id.padEnd(width)}  ${model.provider.padEnd(10)}  ${model.contextLength} tokens context`);
  print({ models: models.map(describeModel) }, options, lines);
}
