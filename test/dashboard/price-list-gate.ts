import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Catalog } from '../../src/catalog/catalog.ts';
import { loadConfig, type Config } from '../../src/config.ts';

/** Loads settings as the server does, from a file and the environment. */
export function configFrom(yaml: string, environment: Readonly<Record<string, string>> = {}): Config {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-settings-'));
  const file = join(folder, 'tollgate.yaml');
  writeFileSync(file, yaml);
  try {
    return loadConfig({ TOLLGATE_CONFIG: file, TOLLGATE_DATA: folder, ...environment });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The parts of a gate that the operators' pages ask for. */
export function gateOf(config: Config, priceVersions: ReadonlyMap<string, number>) {
  return { config, catalog: new Catalog(config.models, (provider) => config.providers.has(provider)), priceVersions };
}
