import { findUnknown } from '../accounts/model-rules.ts';
import type { Config } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { suggestName } from '../nearest-name.ts';

/** Refuses misspelt models: a key or plan with nothing else could call nothing, and nobody would know why. */
export async function refuseUnknownModels(config: Config, models: readonly string[]): Promise<void> {
  const known = config.models.map((model) => model.id);
  if (findUnknown(models, known).length === 0) return;
  const discovered = await discoverModels(config);
  known.push(...[...discovered.models.values()].flat().map(({ id }) => id));
  // A self-hosted server that is down cannot list its models, so its model names are accepted unchecked.
  const unknown = findUnknown(models, known).filter((id) => !discovered.failed.has(id.split('/')[0] ?? ''));
  const [first] = unknown;
  if (first !== undefined)
    throw new Error(`Unknown model ${unknown.join(', ')}.${suggestName(first, known)} List the models with: models list --all`);
}
