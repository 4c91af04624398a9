import type { Command } from 'commander';
import { Catalog, describeModel } from '../catalog/catalog.ts';
import { loadConfig } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { supportedParameters } from '../gateway/supported-parameters.ts';
import { commandGroup, withJson } from './command-group.ts';
import { checkModels } from './models-check.ts';
import { importModels } from './models-import.ts';
import { print, type JsonOption } from './session.ts';
import { alignColumns, sayPrice } from './text.ts';

/** `models list|check|import`. */
export function modelsCommand(): Command {
  const { group, add } = commandGroup('models', 'The model catalogue.');
  add('list', 'list the models that can be called with the current settings')
    .option('--all', 'also models whose provider is off')
    .action(list);
  add('check', 'check models, prices, limits and routes; exit code 1 on any failure')
    .option('--live', 'also send one small request along every enabled route; your providers charge for it')
    .action(checkModels);
  add('import', 'print tollgate.yaml entries for models that a provider lists and the catalogue lacks')
    .requiredOption('--provider <id>', 'an enabled provider')
    .option('--prices <file>', 'a JSON table of prices in USD per token, by model')
    .action(importModels);
  return withJson(group);
}

async function list(options: JsonOption & { readonly all?: boolean }): Promise<void> {
  const config = loadConfig(process.env);
  const catalog = new Catalog(config.models, (provider) => options.all === true || config.providers.has(provider));
  const { models: discovered, failed } = await discoverModels(config);
  for (const [provider, found] of discovered) catalog.discover(provider, found);
  for (const [provider, reason] of failed) process.stderr.write(`The models of ${provider} are not listed: ${reason}.\n`);
  const models = catalog.list();
  const cells = models.map(({ id, provider, contextLength, price }) => [
    id,
    provider,
    `${contextLength} tokens context`,
    `${sayPrice(price.input)} input`,
    `${sayPrice(price.output)} output per million tokens`,
  ]);
  const shown = models.map((model) => describeModel(model, supportedParameters(model, config.providers)));
  print({ models: shown }, options, alignColumns(cells, { right: [2, 3, 4] }));
}
