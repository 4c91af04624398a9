import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Accounts } from '../../src/accounts/accounts.ts';
import type { GateQuestion } from '../../src/dashboard/messages.ts';
import { idAt, makeId } from '../../src/ids.ts';
import { postCredit, postDebit } from '../../src/ledger/credit.ts';
import { asNanos, formatUsd } from '../../src/ledger/money.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const TEST_MS = 120_000;
const USD = 1_000_000_000n;
/** New accounts are counted by their ids. */
const [ONE = '', TWO = ''] = ['one', 'two'].map((name) => `${idAt('acct', NOW_MS - 20 * DAY_MS)}${name}`);

interface Overview {
  readonly chargedUsd: string;
  readonly requests: number;
  readonly errors: number;
  readonly moneyIn: object;
  readonly newAccounts: number;
  readonly charges: { readonly buckets: readonly number[]; readonly series: readonly { name: string | null; values: readonly string[] }[] };
  readonly providers: readonly { name: string; asked: number; failed: number; outcomes: readonly object[] }[];
  readonly models: readonly { id: string; chargedUsd: string }[];
  readonly margin: object;
  readonly attempts: { readonly sinceMs: number | null };
}

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ledger: unknown = { waiting: 0, verified: undefined };

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore(), { ask: async ({ type }: GateQuestion) => (type === 'ledger' ? ledger : []) });
    operator = await enterAsOperator(dashboard);
    for (const [index, accountId] of [ONE, TWO].entries())
      await seedUsage(dashboard.dependencies.database, {
        accountId,
        rows: 600 - index * 200,
        fromMs: NOW_MS - 20 * DAY_MS - index,
        toMs: NOW_MS,
        seed: index + 1,
      });
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const read = async (query: string): Promise<Overview> =>
    (await jsonOf(await operator.get(`/api/admin/overview?${query}`))) as unknown as Overview;
  const sumOf = async (fromMs: number) => {
    const rows = await dashboard.dependencies.database.kysely
      .selectFrom('usage')
      .select(['cost', 'outcome', 'account_id'])
      .where('created_at', '>=', BigInt(fromMs))
      .execute();
    return {
      chargedUsd: formatUsd(asNanos(rows.reduce((sum, { cost }) => sum + cost, 0n))),
      requests: rows.length,
      errors: rows.filter(({ outcome }) => outcome === 'failed').length,
    };
  };
  const midnightMs = Math.floor(NOW_MS / DAY_MS) * DAY_MS;

  test('charges are the sum of all requests in the range, in total, by time and by model', async () => {
    const days = { today: 1, '7d': 7, '30d': 30 };
    for (const [range, count] of Object.entries(days)) {
      const overview = await read(`range=${range}&zone=UTC`);
      const expected = await sumOf(midnightMs - (count - 1) * DAY_MS);
      expect(overview).toMatchObject(expected);
      if (range !== 'today') expect(overview.charges.buckets).toHaveLength(count);
      const charged = overview.charges.series.flatMap(({ values }) => values).reduce((sum, usd) => sum + Number(usd), 0);
      expect(charged).toBeCloseTo(Number(expected.chargedUsd), 9);
      expect(overview.charges.series.length).toBeLessThanOrEqual(6);
    }
    const month = await read('range=month&zone=UTC');
    expect(month).toMatchObject(await sumOf(Date.UTC(new Date(NOW_MS).getUTCFullYear(), new Date(NOW_MS).getUTCMonth(), 1)));
    expect((await operator.get('/api/admin/overview?range=year')).status).toBe(400);
  });

  test('active accounts are counted and listed by charges', async () => {
    const { active, top } = await jsonOf(await operator.get('/api/admin/overview/accounts?range=30d'));
    expect(active).toBe(2);
    expect(top).toMatchObject([
      { id: ONE, email: `${ONE}@example.com`, requests: 600 },
      { id: TWO, requests: 400 },
    ]);
    expect((await read('range=today&zone=UTC')).newAccounts).toBe(1);
    expect((await read('range=30d&zone=UTC')).newAccounts).toBe(3);
  });

  test('money in is the sum of payments, less refunds and disputes', async () => {
    const { kysely } = dashboard.dependencies.database;
    const posting = { accountId: ONE, house: 'stripe_clearing', atMs: NOW_MS } as const;
    await postCredit(kysely, { ...posting, amount: asNanos(20n * USD), kind: 'paid', source: 'stripe:1', reason: 'top-up' });
    await postDebit(kysely, {
      ...posting,
      amount: asNanos(5n * USD),
      kind: 'refund',
      source: 'stripe:1:r',
      reason: 'refund',
      from: ['paid'],
    });
    // Manual credit is not money in.
    const account = await new Accounts(kysely).find(`${TWO}@example.com`);
    if (account === undefined) throw new Error('it was seeded');
    await new Accounts(kysely).credit(account, asNanos(USD), { reason: 'test', actor: 'test' });
    expect((await read('range=today&zone=UTC')).moneyIn).toEqual({ paidUsd: '20', returnedUsd: '5', netUsd: '15' });
    expect((await read('range=7d')).moneyIn).toEqual({ paidUsd: '20', returnedUsd: '5', netUsd: '15' });
  });

  test('a failed call counts against its provider, unless the caller made a mistake', async () => {
    const { kysely } = dashboard.dependencies.database;
    const before = (await read('range=7d')).providers.find(({ name }) => name === 'north');
    const ids = await kysely.selectFrom('usage').select('request_id').orderBy('request_id', 'desc').limit(3).execute();
    await kysely
      .insertInto('attempts')
      .values(
        ids.map(({ request_id }, index) => ({
          request_id,
          n: 1,
          provider: 'north',
          outcome: index === 0 ? 'provider_refused' : 'provider_timeout',
          duration_ms: 5,
        })),
      )
      .execute();
    const after = (await read('range=7d')).providers.find(({ name }) => name === 'north');
    expect(after).toMatchObject({
      asked: (before?.asked ?? 0) + 3,
      failed: (before?.failed ?? 0) + 2,
      outcomes: [
        { outcome: 'provider_timeout', count: 2 },
        { outcome: 'provider_refused', count: 1 },
      ],
    });
    expect((await read('range=7d')).attempts.sinceMs).toBeNull();
  });

  test('the margin is the charges less the list price of the same tokens, if there is one', async () => {
    const { kysely } = dashboard.dependencies.database;
    const none = (await read('range=today')).margin;
    expect(none).toMatchObject({ hasAny: false, listedUsd: '0' });
    const row = await kysely.selectFrom('usage').selectAll().where('outcome', '=', 'completed').limit(1).executeTakeFirstOrThrow();
    const tokens = { input_tokens: 1000, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 100 };
    const add = (model: string, provider: string): Promise<unknown> =>
      kysely
        .insertInto('usage')
        .values({ ...row, ...tokens, request_id: makeId('req'), created_at: Date.now(), model, provider, cost: 10_000_000n })
        .execute();
    // 1,000 tokens at $5 a million and 100 at $30.
    await add('openai/gpt-5.5', 'openai');
    // Through a route that is not listed, and with a price that depends on the length of each prompt.
    await add('openai/gpt-5.5', 'azure');
    await add('gemini/gemini-2.5-pro', 'gemini');
    const { margin } = await read('range=today');
    expect(margin).toMatchObject({ hasAny: true, chargedUsd: '0.01', listedUsd: '0.008', marginUsd: '0.002' });
    expect((margin as { unlisted: string[] }).unlisted).toEqual(expect.arrayContaining(['openai/gpt-5.5', 'gemini/gemini-2.5-pro']));
  });

  test('the liability is shown by kind of credit, with the amount held', async () => {
    const { kysely } = dashboard.dependencies.database;
    const hold = {
      id: 'req_open',
      account_id: ONE,
      key_id: 'key',
      model: 'm',
      price_version: 1,
      amount: 7n,
      node_id: 'n',
      progress: 0,
    };
    await kysely
      .insertInto('holds')
      .values({ ...hold, created_at: NOW_MS })
      .execute();
    await kysely.updateTable('wallets').set({ debits_pending: 7n }).where('account_id', '=', ONE).execute();
    const books = await jsonOf(await operator.get('/api/admin/overview/books'));
    const wallets = await kysely.selectFrom('wallets').selectAll().execute();
    const balance = wallets.reduce((sum, wallet) => sum + wallet.credits_posted - wallet.debits_posted, 0n);
    expect(books).toMatchObject({
      balanceUsd: formatUsd(asNanos(balance)),
      debtsUsd: '0',
      paidUsd: '15',
      planUsd: '0',
      promoUsd: '0',
      manualUsd: formatUsd(asNanos(balance - 15n * USD)),
      heldUsd: formatUsd(asNanos(7n)),
      holds: 1,
      verified: null,
    });
  });

  test('the last ledger verification is shown', async () => {
    const check = { name: 'R1 the sums of every wallet equal its transfers', ok: true, difference: '0', places: [] };
    const broken = { name: 'R3 grants', ok: false, difference: '1.5', places: [ONE] };
    ledger = { waiting: 2, verified: { atMs: NOW_MS, checks: [check, broken] } };
    const { waiting, verified } = await jsonOf(await operator.get('/api/admin/overview/books'));
    expect([waiting, verified]).toEqual([2, { atMs: NOW_MS, rules: 2, broken: [broken] }]);
  });
});
