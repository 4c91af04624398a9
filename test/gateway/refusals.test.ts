import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { NewKey } from '../../src/accounts/keys.ts';
import { asNanos } from '../../src/ledger/money.ts';
import type { Service } from '../../src/serve.ts';
import { readRefusals, type RefusalRow } from '../../src/usage/refusals.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { until } from '../until.ts';
import { serveStore } from './serve-store.ts';

const MODEL = 'sandbox/echo';
/** What an unreachable provider costs is no matter here. */
const GONE = {
  id: 'gone/model',
  provider: 'gone',
  context_length: 8192,
  max_output_tokens: 1024,
  price: { input: '1', output: '1' },
  routes: [{ provider: 'gone', model: 'gone' }],
};

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let store: OpenStore;
    let service: Service;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
      const providers = { gone: { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'none' } };
      service = await serveStore(store, { providers, models: [GONE] });
    });
    beforeEach(async () => {
      owner = await Owner.at(store);
      await owner.accounts.credit(owner.account, asNanos(10_000_000_000n), { reason: 'test', actor: 'test' });
    });
    afterAll(async () => {
      await service.drain();
      await store.close();
    });

    async function make(settings: Partial<NewKey> = {}): Promise<{ readonly id: string; readonly secret: string }> {
      return owner.keys.create(owner.account.id, { name: 'test', ...settings });
    }

    async function send(secret: string, fields: object = {}): Promise<{ id: string; error: { message: string } | undefined }> {
      const response = await fetch(`${service.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, ...fields }),
      });
      const text = await response.text();
      const { error } = (text.startsWith('{') ? JSON.parse(text) : {}) as { error?: { message: string } };
      return { id: response.headers.get('x-request-id') ?? '', error };
    }

    const kept = async (): Promise<readonly RefusalRow[]> =>
      (await readRefusals(store, { accountId: owner.account.id, rowsMax: 100 })).rows;

    /** All of the account, as soon as there are so many. */
    const keptAre = (count: number): Promise<readonly RefusalRow[]> =>
      until(async () => {
        const rows = await kept();
        return rows.length >= count ? rows : undefined;
      });

    test.each<[string, object, object]>([
      ['a wrong field', { temperature: 9, stream: true }, { status: 400n, error_code: 'decimal_above_max_value', param: 'temperature' }],
      ['a field of a message', { messages: [{ role: 'king', content: 'Hi' }] }, { error_code: 'invalid_value', param: 'messages[0].role' }],
      ['a model that is not here', { model: 'openai/gpt-99' }, { status: 404n, error_code: 'model_not_found', model: 'openai/gpt-99' }],
      ['a model without its provider', { model: 'Echo' }, { error_code: 'model_not_found', model: 'Echo' }],
      ['what may be a secret', { model: 'sk-live-1234' }, { error_code: 'model_not_found', model: null }],
      ['a secret that begins like a model', { model: `gpt-${'x'.repeat(40)}` }, { error_code: 'model_not_found', model: null }],
      ['too much output', { max_tokens: 10_000_000 }, { status: 400n, param: 'max_tokens' }],
    ])('%s is kept as the caller was told', async (_, fields, row) => {
      const { id, secret } = await make();
      const answer = await send(secret, fields);
      const isStreaming = 'stream' in fields ? 1n : 0n;
      const model = 'model' in fields ? {} : { model: MODEL };
      const facts = { request_id: answer.id, key_id: id, message: answer.error?.message, is_streaming: isStreaming, others: 0n };
      expect(await keptAre(1)).toMatchObject([{ ...facts, ...model, ...row }]);
    });

    test('what a key may not do is kept, each with its reason, and where from only as a block', async () => {
      await send((await make({ models: ['sandbox/story'] })).secret);
      await send((await make({ budgets: { total: asNanos(1n) } })).secret);
      await send((await make({ addresses: ['10.0.0.0/8'] })).secret);
      await send((await make({ requestsPerMinute: 1, tokensPerMinute: 1 })).secret);
      await send((await make({ expiresAtMs: Date.now() - 1 })).secret);
      const rows = await keptAre(5);
      expect(rows.map((row) => `${row.status} ${row.error_code}`).toSorted()).toEqual([
        '401 invalid_api_key',
        '403 address_not_allowed',
        '403 budget_exhausted',
        '403 model_not_allowed',
        '429 tokens_above_limit',
      ]);
      const { message } = rows.find((row) => row.error_code === 'address_not_allowed') ?? {};
      expect(message).toContain('127.0.0.0/24');
      expect(message).not.toContain('127.0.0.1');
    });

    test('a body that is no JSON is kept, without anything of it', async () => {
      const { secret } = await make();
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body: '{"model": oh' });
      await fetch(`${service.url}/v1/models/sandbox/nothing`, { headers });
      const rows = (await keptAre(2)).toSorted((first, second) => Number(first.status - second.status));
      expect(rows).toMatchObject([
        { status: 400n, error_code: 'invalid_json', model: null, param: null },
        { status: 404n, error_code: 'model_not_found', model: null },
      ]);
    });

    test('what was let in is none, however it ended, and what has no known key is nobody’s', async () => {
      const { secret } = await make();
      expect((await send(secret)).error).toBeUndefined();
      expect((await send(secret, { model: GONE.id })).error).toBeDefined();
      const [before] = (await readRefusals(store, { accountId: undefined, rowsMax: 1 })).rows;
      const strangers = [await send('sk-tg-unknown'), await send(`${secret}x`)];
      expect(strangers.every(({ error }) => error !== undefined)).toBe(true);
      // The last is kept, and all before it would be there with it.
      const last = await send(secret, { n: 0 });
      expect((await keptAre(1)).map((row) => row.request_id)).toEqual([last.id]);
      const all = (await readRefusals(store, { accountId: undefined, rowsMax: 10 })).rows;
      expect(all.slice(0, 2).map((row) => row.request_id)).toEqual([last.id, ...(before === undefined ? [] : [before.request_id])]);
    });

    test('of many at once the first are kept, with the count of the others', async () => {
      const { secret } = await make();
      await Promise.all(Array.from({ length: 60 }, () => send(secret, { n: 0 })));
      await send(secret, { top_p: 7 });
      const rows = await until(async () => {
        const found = await kept();
        return found.some(({ error_code: code }) => code === 'decimal_above_max_value') ? found : undefined;
      });
      const same = rows.filter(({ error_code: code }) => code === 'integer_below_min_value');
      expect(same.length).toBeLessThan(30);
      expect(same.reduce((sum, { others }) => sum + 1 + Number(others), 0)).toBe(60);
    });
  });
