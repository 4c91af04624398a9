import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { serve, type Service } from '../../src/serve.ts';
import type { OpenStore } from '../accounts/stores.ts';

/** Settings with a model whose provider cannot be reached. */
export const GONE = {
  providers: { gone: { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'none' } },
  models: [
    {
      id: 'gone/model',
      provider: 'gone',
      context_length: 8192,
      max_output_tokens: 1024,
      price: { input: '1', output: '1' },
      routes: [{ provider: 'gone', model: 'gone' }],
    },
  ],
};

/** Starts a server on a store, with these settings as its `tollgate.yaml`. */
export function serveStore(store: OpenStore, settings: object = {}): Promise<Service> {
  const file = join(store.folder, 'tollgate.yaml');
  writeFileSync(file, JSON.stringify(settings));
  const environment = { HOST: '127.0.0.1', PORT: '0', TOLLGATE_DATA: store.folder, TOLLGATE_CONFIG: file, TOLLGATE_LOG_LEVEL: 'silent' };
  return serve(loadConfig({ ...environment, DATABASE_URL: store.databaseUrl }));
}
