import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { Accounts, type Account } from '../../src/accounts/accounts.ts';
import { Keys, type FreshKey } from '../../src/accounts/keys.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos, formatUsd } from '../../src/ledger/money.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;

interface Row {
  readonly id: string;
  readonly email: string;
}

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let database: Kysely<Tables>;
  let accounts: Accounts;
  let operator: TestBrowser;
  let ada: TestBrowser;
  let account: Account;
  let key: FreshKey;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    database = dashboard.dependencies.database.kysely;
    accounts = new Accounts(database);
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada_l@example.com');
    await ada.get('/api/account');
    account = await find('ada_l@example.com');
    key = await new Keys(database).create(account.id, { name: 'notebook' });
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const find = async (email: string): Promise<Account> => {
    const found = await accounts.find(email);
    if (found === undefined) throw new Error(`there is no account ${email}`);
    return found;
  };

  const list = async (query: string): Promise<{ accounts: Row[]; next: string | null }> =>
    (await jsonOf(await operator.get(`/api/admin/accounts?${query}`))) as never;
  const emails = async (query: Readonly<Record<string, string>>): Promise<string[]> =>
    (await list(String(new URLSearchParams(query)))).accounts.map(({ email }) => email);

  test('the list shows credit, plan and last request of each account, newest first', async () => {
    const nowMs = Date.now();
    await seedUsage(dashboard.dependencies.database, { accountId: account.id, rows: 5, fromMs: nowMs - DAY_MS, toMs: nowMs });
    await database.updateTable('wallets').set({ debits_pending: 2_000_000_000 }).where('account_id', '=', account.id).execute();
    const { balance } = await find(account.email);
    const { accounts: rows } = await list('');
    expect(rows.map(({ email }) => email)).toEqual(['ada_l@example.com', 'operator@example.com']);
    expect(rows[0]).toEqual({
      id: account.id,
      email: 'ada_l@example.com',
      status: 'active',
      isOperator: false,
      availableUsd: formatUsd(asNanos(balance - 2_000_000_000n)),
      heldUsd: '2',
      plan: null,
      createdAtMs: expect.any(Number) as number,
      lastRequestAtMs: expect.any(Number) as number,
    } as never);
    expect((rows[0] as unknown as { lastRequestAtMs: number }).lastRequestAtMs).toBeGreaterThan(nowMs - DAY_MS);
    expect(rows[1]).toMatchObject({ isOperator: true, lastRequestAtMs: null });
  });

  test('the list can be searched by address, id, key and Stripe customer', async () => {
    await database.insertInto('payment_customers').values({ account_id: account.id, provider: 'stripe', customer_ref: 'cus_A1' }).execute();
    const { prefix, lastFour } = key;
    const known = [
      'ada_',
      'DA_L@exam',
      account.id,
      key.id,
      prefix,
      prefix.slice(0, -1),
      `${prefix}…${lastFour}`,
      `${prefix}...${lastFour}`,
      'cus_A1',
    ];
    for (const q of known) expect([q, await emails({ q })]).toEqual([q, ['ada_l@example.com']]);
    const unknown = [
      'adaxl',
      '%',
      'ada_l@example.org',
      'acct_0',
      'key_0',
      `${prefix}…????`,
      prefix.replace('sk-tg-', 'sk-tg-?'),
      'cus_a1',
      'cus_',
    ];
    for (const q of unknown) expect([q, await emails({ q })]).toEqual([q, []]);
    expect(await emails({ q: '@example.com' })).toEqual(['ada_l@example.com', 'operator@example.com']);
  });

  test('the list is filtered by status, with closed accounts separate from suspended ones', async () => {
    await accounts.create('gone@example.com', false);
    const { id } = await find('gone@example.com');
    await database
      .updateTable('accounts')
      .set({ status: 'suspended', closed_at: 1, email: `closed:${id}` })
      .where('id', '=', id)
      .execute();
    await accounts.create('held@example.com', false);
    await accounts.setStatus(await find('held@example.com'), 'suspended');
    expect(await emails({ status: 'active' })).toEqual(['ada_l@example.com', 'operator@example.com']);
    expect(await emails({ status: 'suspended' })).toEqual(['held@example.com']);
    expect(await emails({ status: 'closed' })).toEqual([`closed:${id}`]);
    expect(await emails({ status: 'active', q: 'held' })).toEqual([]);
  });

  test('the pages of the list have no gaps', async () => {
    const many = 60;
    for (let n = 0; n < many; n += 1) await accounts.create(`many${n}@example.net`, false);
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = await list(`q=example.net${next === '' ? '' : `&before=${next}`}`);
      seen.push(...page.accounts.map(({ id }) => id));
      next = page.next;
    }
    expect(seen).toHaveLength(many);
    expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
    expect((await operator.get('/api/admin/accounts?before=x')).status).toBe(400);
    expect((await operator.get('/api/admin/accounts?status=odd')).status).toBe(400);
  });

  test('a search text with a NUL character is refused', async () => {
    for (const path of ['accounts?q=%00', 'audit?subject=%00'])
      expect([path, (await operator.get(`/api/admin/${path}`)).status]).toEqual([path, 400]);
  });
});
