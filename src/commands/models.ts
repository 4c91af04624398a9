import type { Command } from 'commander';
import { Catalog, describeModel } from '../catalog/catalog.ts';
import { loadConfig } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { commandGroup, withJson } from './command-group.ts';
import { checkModels } from './models-check.ts';
import { importModels } from './models-import.ts';
import { print, type JsonOption } from './session.ts';

/** `models list|check|import`. */
export function modelsCommand(): Command {
  const { group, add } = commandGroup('models', 'The model catalogue.');
  add('list', 'list the models that a configured provider serves').option('--all', 'also those whose provider has no key').action(list);
  add('check', 'check models, prices, limits and routes; exit code 1 on any failure')
    .option('--live', 'also send one small request along every route that is on, which costs what it costs')
    .action(checkModels);
  add('import', "print entries for tollgate.yaml: the models of a provider's own list that the catalogue lacks")
    .requiredOption('--provider <id>', 'a provider that is switched on')
    .option('--prices <file>', 'a table of prices in JSON: USD per token, by model')
    .action(importModels);
  return withJson(group);
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
