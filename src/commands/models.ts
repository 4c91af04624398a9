import { Command } from 'commander';
import { Catalog, describeModel } from '../catalog/catalog.ts';
import { loadConfig } from '../config.ts';
import { print } from './session.ts';

/** `models list`: what the gate can serve with the present settings. */
export function modelsCommand(): Command {
  const command = new Command('models').description('The model catalogue.');
  command
    .command('list')
    .description('list the models that a configured provider serves')
    .option('--all', 'also those whose provider has no key')
    .option('--json', 'print one JSON object')
    .action(list);
  return command;
}

function list(options: { readonly all?: boolean; readonly json?: boolean }): void {
  const config = loadConfig(process.env);
  const models = new Catalog(config.models, (provider) => options.all === true || config.providers.has(provider)).list();
  const width = Math.max(...models.map((model) => model.id.length));
  const lines = models.map((model) => `${model.id.padEnd(width)}  ${model.provider.padEnd(10)}  ${model.contextLength} tokens context`);
  print({ models: models.map(describeModel) }, options, lines);
}
