import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI, { APIError, RateLimitError } from 'openai';
import type { NewKey } from '../../src/accounts/keys.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../../src/ledger/ledger.ts';
import { asNanos, parseUsd } from '../../src/ledger/money.ts';
import type { Service } from '../../src/serve.ts';
import { Owner, freshOf } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { until } from '../until.ts';
import { serveStore } from './serve-store.ts';

/** A change of a key takes effect within a second. The limit is generous, because the test machine is busy. */
const EFFECT_WITHIN_MS = 10_000;
const MODEL = 'sandbox/echo';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let store: OpenStore;
    let service: Service;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
      service = await serveStore(store);
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

    function client(secret: string): OpenAI {
      return new OpenAI({ apiKey: secret, baseURL: `${service.url}/v1`, maxRetries: 0 });
    }

    /** Returns `ok`, or the status and code that the official client reports. */
    async function ask(secret: string, model = MODEL): Promise<string> {
      try {
        await client(secret).chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 });
        return 'ok';
      } catch (error) {
        if (error instanceof APIError) return `${error.status} ${String(error.code)}`;
        throw error;
      }
    }

    test('a key is accepted as a bearer token and as a password, and in no other form', async () => {
      const { secret } = await make();
      for (const [authorization, status] of [
        [`bearer  ${secret}`, 200],
        [`Basic ${base64(`:${secret}`)}`, 200],
        [`basic ${base64(`anybody:${secret}`)}`, 200],
        [`Basic ${base64(`${secret}:`)}`, 401],
        [`Basic ${base64(secret)}`, 401],
        [`Basic ${secret}`, 401],
        [`Basic`, 401],
        [secret, 401],
      ] as const)
        expect([authorization, (await fetch(`${service.url}/v1/models`, { headers: { authorization } })).status]).toEqual([
          authorization,
          status,
        ]);
    });

    async function takesEffect(secret: string, expected: string): Promise<void> {
      const startedAtMs = performance.now();
      while ((await ask(secret)) !== expected) {
        if (performance.now() - startedAtMs > EFFECT_WITHIN_MS) throw new Error(`not ${expected} in time, but ${await ask(secret)}`);
        await Bun.sleep(10);
      }
    }

    /** Creates a key with all budgets, of which the one of this period is small, and uses it until it is refused. */
    async function spendBudget(period: BudgetPeriod): Promise<{ readonly id: string; readonly secret: string }> {
      const plenty = parseUsd('5');
      const key = await make({ budgets: { day: plenty, week: plenty, month: plenty, total: plenty, [period]: asNanos(12_000n) } });
      const answers: string[] = [];
      for (let count = 0; count < 100 && answers.at(-1) !== '403 insufficient_quota'; count += 1) answers.push(await ask(key.secret));
      expect(answers.length).toBeGreaterThan(1);
      expect(answers.at(-1)).toBe('403 insufficient_quota');
      const budgets = (await owner.keys.find(owner.account.id, key.id))?.budgets ?? [];
      const [spent] = budgets.map((budget) => budget.spent);
      expect(budgets.map((budget) => budget.spent)).toEqual([spent, spent, spent, spent].map((each) => each ?? asNanos(0n)));
      expect(budgets.every((budget) => budget.spent <= budget.amount && budget.held === 0n)).toBe(true);
      return key;
    }

    describe('a list of allowed addresses', () => {
      test.each<[string, readonly string[], string]>([
        ['the block of the client', ['10.0.0.0/8', '127.0.0.0/8'], 'ok'],
        ['the exact address', ['127.0.0.1'], 'ok'],
        ['another block', ['10.0.0.0/8'], '403 address_not_allowed'],
        ['all of IPv6, for an IPv4 client', ['::/0'], '403 address_not_allowed'],
      ])('with %s is enforced', async (_, addresses, expected) => {
        const { secret } = await make({ addresses });
        expect(await ask(secret)).toBe(expected);
      });

      test('cannot be bypassed by a header', async () => {
        const { secret } = await make({ addresses: ['10.0.0.0/8'] });
        const headers = {
          authorization: `Bearer ${secret}`,
          'x-forwarded-for': '10.0.0.1',
          'x-real-ip': '10.0.0.1',
          forwarded: 'for=10.0.0.1',
        };
        expect((await fetch(`${service.url}/v1/models`, { headers })).status).toBe(403);
      });

      test('also guards the list of models, and the error names the address seen', async () => {
        const { secret } = await make({ addresses: ['10.0.0.0/8'] });
        const response = await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
        expect(response.status).toBe(403);
        expect(await response.text()).toContain('127.0.0.1');
      });

      test('takes effect within a second of a change', async () => {
        const { id, secret } = await make();
        expect(await ask(secret)).toBe('ok');
        await owner.keys.update(owner.by(id), { addresses: ['10.0.0.0/8'] });
        await takesEffect(secret, '403 address_not_allowed');
        await owner.keys.update(owner.by(id), { addresses: null });
        await takesEffect(secret, 'ok');
      });
    });

    describe('a denied model', () => {
      test('is refused and not listed, whatever the allow list says', async () => {
        const { secret } = await make({ models: [MODEL, 'sandbox/story'], deniedModels: [MODEL] });
        expect(await ask(secret)).toBe('403 model_not_allowed');
        expect(await ask(secret, 'sandbox/story')).toBe('ok');
        const models = await Array.fromAsync(client(secret).models.list());
        expect(models.map(({ id }) => id)).toEqual(['sandbox/story']);
      });

      test('leaves all other models available to a key without an allow list', async () => {
        const { secret } = await make({ deniedModels: ['sandbox/story'] });
        expect([await ask(secret), await ask(secret, 'sandbox/story')]).toEqual(['ok', '403 model_not_allowed']);
      });
    });

    describe('a provider pattern in a model list', () => {
      test.each<[string, Partial<NewKey>, string]>([
        ['allows all of its models', { models: ['sandbox/*'] }, 'ok'],
        ['allows no models of another provider', { models: ['openai/*'] }, '403 model_not_allowed'],
        ['denies all of its models, even an allowed one', { models: [MODEL], deniedModels: ['sandbox/*'] }, '403 model_not_allowed'],
        ['can be combined with a denied model', { models: ['sandbox/*'], deniedModels: ['sandbox/story'] }, 'ok'],
        ['does not match the beginning of a name', { models: ['sand/*', 'sandbox', 'sandbox*', '*'] }, '403 model_not_allowed'],
      ])('%s', async (_, settings, expected) => {
        expect(await ask((await make(settings)).secret)).toBe(expected);
      });
    });

    test('a disabled key is refused within a second, and works again when it is enabled', async () => {
      const { id, secret } = await make();
      expect(await ask(secret)).toBe('ok');
      await owner.keys.update(owner.by(id), { isDisabled: true });
      await takesEffect(secret, '401 key_disabled');
      await owner.keys.update(owner.by(id), { isDisabled: false });
      await takesEffect(secret, 'ok');
    });

    describe('budgets per day, week, month and in total', () => {
      test('apply together, and each of them stops its key', async () => {
        const keys = new Map<BudgetPeriod, Awaited<ReturnType<typeof make>>>();
        for (const period of BUDGET_PERIODS) keys.set(period, await spendBudget(period));
        // It takes some seconds until a refusal is stored, for all keys at once.
        for (const [period, { id, secret }] of keys) {
          const status = async (): Promise<string | undefined> => (await owner.keys.find(owner.account.id, id))?.status;
          await until(async () => (await status()) === 'limit_reached');
          await owner.keys.update(owner.by(id), { budgets: { [period]: parseUsd('5') } });
          expect(await ask(secret)).toBe('ok');
          expect(await status()).toBe('active');
        }
      });
    });

    test('a key that slows down gets a time to try again before its budget is used up', async () => {
      const { id, secret } = await make({ atLimit: 'slow_down', budgets: { month: asNanos(1_000_000n) } });
      const nowMs = Date.now();
      await store.kysely
        .updateTable('key_budgets')
        .set({ spent: 799_000n, window_start: nowMs, window_end: nowMs + 1_000_000_000 })
        .where('key_id', '=', id)
        .execute();
      const send = client(secret).chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 });
      const refusal: unknown = await send.catch((error: unknown) => error);
      if (!(refusal instanceof RateLimitError)) throw new Error('the key was not slowed down');
      expect(refusal.code).toBe('rate_limit_exceeded');
      expect(refusal.message).toMatch(/slowed down near the end of its budget \(per month\).* Try again at \d{4}-\d\d-\d\dT[\d:]{8}Z/);
      // The wait is hours: no client would wait that long by itself.
      expect(refusal.headers?.get('x-should-retry')).toBe('false');
      const waitSeconds = refusal.headers?.get('retry-after') ?? '';
      const key = await owner.keys.find(owner.account.id, id);
      const [budget] = key?.budgets ?? [];
      expect(waitSeconds).toMatch(/^[1-9]\d*$/);
      expect(Date.now() + Number(waitSeconds) * 1000).toBeLessThanOrEqual((budget?.resetsAtMs ?? 0) + 1000);
      expect(key?.status).toBe('active');
      expect(budget?.pace?.freeAtMs).toBeUndefined();
    });

    describe('a key rotation under traffic', () => {
      test('fails no request of a client that switches in time', async () => {
        const { id, secret } = await make({ requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 });
        let current = secret;
        const results: string[] = [];
        const over = new AbortController();
        const caller = async (): Promise<void> => {
          while (!over.signal.aborted) results.push(await ask(current));
        };
        const passed = (count: number, from = results.length) => until(() => results.length >= from + count);
        const callers = [caller(), caller(), caller()];
        for (let rotation = 0; rotation < 5; rotation += 1) {
          const fresh = freshOf(await owner.keys.rotate(owner.by(id), 60_000));
          await passed(6);
          current = fresh.secret;
          await passed(6);
        }
        over.abort();
        await Promise.all(callers);
        expect(results.filter((answer) => answer !== 'ok')).toEqual([]);
      });

      test('refuses the old secret within a second after the overlap ends', async () => {
        const { id, secret } = await make();
        const fresh = freshOf(await owner.keys.rotate(owner.by(id), 3_600_000));
        expect([await ask(secret), await ask(fresh.secret)]).toEqual(['ok', 'ok']);
        await owner.keys.endOverlap(owner.by(id));
        await takesEffect(secret, '401 invalid_api_key');
        expect(await ask(fresh.secret)).toBe('ok');
      });
    });

    test('the last use of each secret is recorded a few seconds later', async () => {
      const { id, secret } = await make();
      const fresh = freshOf(await owner.keys.rotate(owner.by(id), 3_600_000));
      expect(await ask(secret)).toBe('ok');
      await until(async () => (await owner.keys.find(owner.account.id, id))?.secrets[1]?.usedFrom === '127.0.0.0/24');
      const secrets = (await owner.keys.find(owner.account.id, id))?.secrets ?? [];
      expect(secrets[0]?.usedAtMs).toBeUndefined();
      expect(await ask(fresh.secret)).toBe('ok');
      await until(async () => (await owner.keys.find(owner.account.id, id))?.secrets[0]?.usedAtMs !== undefined);
    });
  });

test('behind a trusted proxy, the address that it names counts', async () => {
  const [sqlite] = STORES;
  const store = await sqlite?.open();
  if (store === undefined) throw new Error('there is no embedded database');
  const service = await serveStore(store, { http: { trusted_proxies: ['127.0.0.0/8'] } });
  const owner = await Owner.at(store);
  const { secret } = await owner.keys.create(owner.account.id, { name: 'test', addresses: ['203.0.113.0/24'] });
  const statusFrom = async (forwarded: string): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}`, 'x-forwarded-for': forwarded };
    return (await fetch(`${service.url}/v1/models`, { headers })).status;
  };
  expect(await statusFrom('203.0.113.7')).toBe(200);
  expect(await statusFrom('203.0.113.7, 198.51.100.1')).toBe(403);
  await service.drain();
  await store.close();
});
