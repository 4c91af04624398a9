import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config.ts';
import { startOwnServer } from '../simulator/own-server.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { entry, runModels as run } from './run-models.ts';

const MOCK = { mock: { base_url: 'http://127.0.0.1:1/v1' } };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-import-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('models import', () => {
  const LIST = {
    object: 'list',
    data: [
      { id: 'large', created: 1_760_000_000, context_window: 200_000, max_completion_tokens: 8000 },
      { id: 'plain' },
      { id: 'known', context_window: 10 },
    ],
  };
  const PRICES = {
    'other/large': {
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 1e-5,
      cache_read_input_token_cost: 2.5e-7,
      input_cost_per_token_above_200k_tokens: 5e-6,
      output_cost_per_token_above_200k_tokens: 1.5e-5,
      max_input_tokens: 1,
      supports_vision: true,
      supports_function_calling: true,
    },
  };

  test('prints entries that load once every placeholder is filled in', async () => {
    const host = startOwnServer(LIST, { key: 'k' });
    const prices = join(folder, 'prices.json');
    await writeFile(prices, JSON.stringify(PRICES));
    const providers = { other: { base_url: host.baseUrl, api_key: 'k' } };
    const known = entry('team/known', { routes: [{ provider: 'other', model: 'known' }] });
    const { code, stdout, stderr } = await run({ providers, models: [known] }, ['import', '--provider', 'other', '--prices', prices]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(parse(stdout)).toEqual({
      models: [
        {
          id: 'other/large',
          provider: 'other',
          created: 1_760_000_000,
          context_length: 200_000,
          max_output_tokens: 8000,
          input: ['text', 'image'],
          features: ['tools', 'sampling'],
          price: { input: 2.5, cached_input: 0.25, output: 10, long: { over: 200_000, input: 5, output: 15 } },
          routes: [{ provider: 'other', model: 'large' }],
        },
        {
          id: 'other/plain',
          provider: 'other',
          context_length: 'FILL_IN',
          max_output_tokens: 'FILL_IN',
          price: { input: 'FILL_IN', output: 'FILL_IN' },
          routes: [{ provider: 'other', model: 'plain' }],
        },
      ],
    });
    const file = join(folder, 'imported.yaml');
    await writeFile(file, `providers: ${JSON.stringify(providers)}\n${stdout}`);
    expect(() => loadConfig({ TOLLGATE_CONFIG: file })).toThrow(/price\.input: must be USD per million tokens/u);
    await writeFile(file, `providers: ${JSON.stringify(providers)}\n${stdout.replaceAll('FILL_IN', '1')}`);
    expect(loadConfig({ TOLLGATE_CONFIG: file }).models.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['other/large', 'other/plain']),
    );
    await host.stop();
  });

  test.each<[what: string, settings: JsonObject, args: readonly string[], message: RegExp]>([
    ['an unknown provider', {}, ['--provider', 'openai'], /no provider openai, or it is off/u],
    ['a missing --provider', {}, [], /--provider <id>' not specified/u],
    [
      'a host without a model list',
      { providers: { bedrock: { region: 'eu', access_key_id: 'a', secret_access_key: 'b' } } },
      ['--provider', 'bedrock'],
      /no list of models/u,
    ],
    ['a host that is down', { providers: MOCK }, ['--provider', 'mock'], /could not be read: it could not be reached/u],
    ['a missing price file', { providers: MOCK }, ['--provider', 'mock', '--prices', '/nowhere.json'], /cannot be read as JSON/u],
  ])('refuses %s', async (_, settings, args, message) => {
    const { code, stdout, stderr } = await run(settings, ['import', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
