import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { NewKey } from '../../src/accounts/keys.ts';
import { asNanos } from '../../src/ledger/money.ts';
import type { Service } from '../../src/serve.ts';
import { readRefusals, type RefusalRow } from '../../src/usage/refusals.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { until } from '../until.ts';
import { GONE, serveStore } from './serve-store.ts';

const MODEL = 'sandbox/echo';

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let store: OpenStore;
    let service: Service;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
      service = await serveStore(store, GONE);
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

    const recorded = async (): Promise<readonly RefusalRow[]> =>
      (await readRefusals(store, { accountId: owner.account.id, rowsMax: 100 })).rows;

    /** Waits until the account has this many refusals, and returns all of them. */
    const recordedAre = (count: number): Promise<readonly RefusalRow[]> =>
      until(async () => {
        const rows = await recorded();
        return rows.length >= count ? rows : undefined;
      });

    test.each<[string, object, object]>([
      ['a wrong field', { temperature: 9, stream: true }, { status: 400n, error_code: 'decimal_above_max_value', param: 'temperature' }],
      ['a field of a message', { messages: [{ role: 'king', content: 'Hi' }] }, { error_code: 'invalid_value', param: 'messages[0].role' }],
      ['an unknown model', { model: 'openai/gpt-99' }, { status: 404n, error_code: 'model_not_found', model: 'openai/gpt-99' }],
      ['a model without its provider', { model: 'Echo' }, { error_code: 'model_not_found', model: 'Echo' }],
      ['a model name that may be a secret', { model: 'sk-live-1234' }, { error_code: 'model_not_found', model: null }],
      ['a secret that begins like a model name', { model: `gpt-${'x'.repeat(40)}` }, { error_code: 'model_not_found', model: null }],
      ['too much output', { max_tokens: 10_000_000 }, { status: 400n, param: 'max_tokens' }],
    ])('%s is recorded as a refusal with the message that the client saw', async (_, fields, row) => {
      const { id, secret } = await make();
      const answer = await send(secret, fields);
      const isStreaming = 'stream' in fields ? 1n : 0n;
      const model = 'model' in fields ? {} : { model: MODEL };
      const facts = { request_id: answer.id, key_id: id, message: answer.error?.message, is_streaming: isStreaming, others: 0n };
      expect(await recordedAre(1)).toMatchObject([{ ...facts, ...model, ...row }]);
    });

    test('requests beyond the rights of a key are recorded with their reason, and their address only as a block', async () => {
      await send((await make({ models: ['sandbox/story'] })).secret);
      await send((await make({ budgets: { total: asNanos(1n) } })).secret);
      await send((await make({ addresses: ['10.0.0.0/8'] })).secret);
      await send((await make({ requestsPerMinute: 1, tokensPerMinute: 1 })).secret);
      await send((await make({ expiresAtMs: Date.now() - 1 })).secret);
      const rows = await recordedAre(5);
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

    test('an invalid JSON body is recorded without any of its text', async () => {
      const { secret } = await make();
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      await fetch(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body: '{"model": oh' });
      await fetch(`${service.url}/v1/models/sandbox/nothing`, { headers });
      const rows = (await recordedAre(2)).toSorted((first, second) => Number(first.status - second.status));
      expect(rows).toMatchObject([
        { status: 400n, error_code: 'invalid_json', model: null, param: null },
        { status: 404n, error_code: 'model_not_found', model: null },
      ]);
    });

    test('accepted requests are not recorded as refusals, however they end, and requests without a known key belong to no account', async () => {
      const { secret } = await make();
      expect((await send(secret)).error).toBeUndefined();
      expect((await send(secret, { model: 'gone/model' })).error).toBeDefined();
      const [before] = (await readRefusals(store, { accountId: undefined, rowsMax: 1 })).rows;
      const strangers = [await send('sk-tg-unknown'), await send(`${secret}x`)];
      expect(strangers.every(({ error }) => error !== undefined)).toBe(true);
      // The last refusal is recorded, and earlier ones would have been recorded with it.
      const last = await send(secret, { n: 0 });
      expect((await recordedAre(1)).map((row) => row.request_id)).toEqual([last.id]);
      const all = (await readRefusals(store, { accountId: undefined, rowsMax: 10 })).rows;
      expect(all.slice(0, 2).map((row) => row.request_id)).toEqual([last.id, ...(before === undefined ? [] : [before.request_id])]);
    });

    test('of many refusals at once the first are recorded, with the count of the others', async () => {
      const { secret } = await make();
      await Promise.all(Array.from({ length: 60 }, () => send(secret, { n: 0 })));
      await send(secret, { top_p: 7 });
      const rows = await until(async () => {
        const found = await recorded();
        return found.some(({ error_code: code }) => code === 'decimal_above_max_value') ? found : undefined;
      });
      const same = rows.filter(({ error_code: code }) => code === 'integer_below_min_value');
      expect(same.length).toBeLessThan(30);
      expect(same.reduce((sum, { others }) => sum + 1 + Number(others), 0)).toBe(60);
    });
  });
