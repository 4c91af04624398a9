import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { Accounts, type Account } from '../../src/accounts/accounts.ts';
import { Invitations } from '../../src/accounts/invitations.ts';
import { Keys, type FreshKey } from '../../src/accounts/keys.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos, formatUsd } from '../../src/ledger/money.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;
const FIVE = asNanos(5_000_000_000n);

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
    ada = await dashboard.signedUp('ada@example.com');
    await ada.get('/api/account');
    account = await find('ada@example.com');
    key = await new Keys(database).create(account.id, { name: 'notebook' }, 'ada@example.com');
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const find = async (email: string): Promise<Account> => {
    const found = await accounts.find(email);
    if (found === undefined) throw new Error(`there is no account ${email}`);
    return found;
  };
  const show = async (id = account.id) => jsonOf(await operator.get(`/api/admin/accounts/${id}?zone=Europe%2FBerlin`));
  const setOperator = async (id: string, isOperator: boolean): Promise<number> =>
    (await operator.send('PUT', `/api/admin/accounts/${id}/operator`, { isOperator })).status;

  test('the page of an account shows its money, keys, owner, payments and changes', async () => {
    const nowMs = Date.now();
    await seedUsage(dashboard.dependencies.database, { accountId: account.id, rows: 20, fromMs: nowMs - 60 * DAY_MS, toMs: nowMs });
    await accounts.credit(account, FIVE, { reason: 'an apology', actor: 'operator@example.com', expiresAtMs: nowMs + DAY_MS });
    await database
      .insertInto('payments')
      .values({
        id: 'pay_1',
        account_id: account.id,
        provider: 'stripe',
        purpose: 'top_up',
        status: 'open',
        amount: FIVE,
        charge_cents: 500,
        address: 'https://pay.example.com/secret',
        created_at: nowMs,
        asked_at: nowMs,
      })
      .execute();
    await database.insertInto('payment_customers').values({ account_id: account.id, provider: 'stripe', customer_ref: 'cus_A1' }).execute();
    const { balance } = await find(account.email);
    const week = await database
      .selectFrom('usage_rollups')
      .select(({ fn }) => fn.sum<bigint>('cost').as('cost'))
      .where('account_id', '=', account.id)
      .where('quarter_hour', '>=', BigInt(nowMs - 7 * DAY_MS))
      .executeTakeFirstOrThrow();
    expect(await show()).toMatchObject({
      account: { id: account.id, email: 'ada@example.com', status: 'active', isOperator: false, isOwn: false, stripeCustomer: 'cus_A1' },
      money: { balanceUsd: formatUsd(balance), heldUsd: '0', sources: [{ kind: 'manual', leftUsd: '5' }, { kind: expect.any(String) }] },
      spend: { weekUsd: formatUsd(asNanos(week.cost)) },
      plan: null,
      owner: { email: 'ada@example.com', isEmailVerified: false, hasTwoFactor: false, hasPassword: true, sessions: [{ isThisOne: false }] },
      statement: [
        { kind: 'manual', reason: 'an apology', amountUsd: '5', balanceUsd: formatUsd(balance) },
        ...Array.from({ length: 9 }, () => ({ kind: 'usage' })),
      ],
      payments: [{ id: 'pay_1', status: 'open', amountUsd: '5' }],
      audit: [
        { action: 'credit', actor: 'operator@example.com', subject: account.id },
        { action: 'key.create', actor: 'ada@example.com', subject: key.id },
      ],
    });
    const { keys } = (await show()) as { keys: { id: string; spentTotalUsd: string }[] };
    expect(keys.find(({ id }) => id === key.id)).toMatchObject({
      name: 'notebook',
      secrets: [`${key.prefix}…${key.lastFour}`],
      status: 'active',
    });
    expect(keys.some(({ spentTotalUsd }) => spentTotalUsd !== '0')).toBe(true);
  });

  test('the page of an account shows no secrets', async () => {
    const text = JSON.stringify(await show());
    expect(text).not.toContain(key.secret);
    expect(text).not.toContain('https://pay.example.com');
    for (const cookie of ada.cookies.values()) expect(text).not.toContain(decodeURIComponent(cookie).split('.')[0] ?? cookie);
    const { password } = await database.selectFrom('credentials').select('password').limit(1).executeTakeFirstOrThrow();
    expect(text).not.toContain(password ?? '');
  });

  test('an account without an owner is shown, an unknown one is not found', async () => {
    await accounts.create('machine@example.com', false);
    expect(await show((await find('machine@example.com')).id)).toMatchObject({ owner: null, keys: [], money: { balanceUsd: '0' } });
    expect((await operator.get('/api/admin/accounts/acct_0')).status).toBe(404);
  });

  test('suspending and resuming an account each record a reason in the audit log', async () => {
    const set = async (body: unknown, id = account.id): Promise<Response> => operator.send('PUT', `/api/admin/accounts/${id}/status`, body);
    const statusOf = async (): Promise<string> => (await find(account.email)).status;
    expect((await set({ status: 'suspended', reason: 'card fraud' })).status).toBe(200);
    expect(await statusOf()).toBe('suspended');
    // A second click changes nothing and is not recorded again.
    expect((await set({ status: 'suspended', reason: 'card fraud' })).status).toBe(200);
    expect((await set({ status: 'active', reason: 'it was a mistake' })).status).toBe(200);
    expect(await statusOf()).toBe('active');
    const { audit } = (await show()) as { audit: { action: string }[] };
    expect(audit.slice(0, 3)).toMatchObject([
      {
        action: 'account.resume',
        actor: 'operator@example.com',
        subject: account.id,
        changes: [
          { field: 'status', before: 'suspended', after: 'active' },
          { field: 'reason', before: null, after: 'it was a mistake' },
        ],
      },
      { action: 'account.suspend', changes: [{ field: 'status', after: 'suspended' }, { after: 'card fraud' }] },
      { action: 'credit' },
    ]);
    for (const body of [{ status: 'suspended' }, { status: 'suspended', reason: ' ' }, { status: 'closed', reason: 'x' }])
      expect([body, (await set(body)).status]).toEqual([body, 400]);
    const own = await find('operator@example.com');
    expect((await set({ status: 'suspended', reason: 'x' }, own.id)).status).toBe(409);
    expect((await find(own.email)).status).toBe('active');
  });

  test('a closed account cannot be resumed', async () => {
    await accounts.create('gone@example.com', false);
    const gone = await find('gone@example.com');
    await database.updateTable('accounts').set({ status: 'suspended', closed_at: 1 }).where('id', '=', gone.id).execute();
    const answer = await operator.send('PUT', `/api/admin/accounts/${gone.id}/status`, { status: 'active', reason: 'x' });
    expect(answer.status).toBe(409);
    expect(await accounts.setStatus(gone, 'active')).toBe(false);
    expect((await find('gone@example.com')).status).toBe('closed');
  });

  test('a suspended operator loses operator rights', async () => {
    const second = await enterAsOperator(dashboard, 'second@example.com');
    expect((await second.get('/api/admin/accounts')).status).toBe(200);
    await accounts.setStatus(await find('second@example.com'), 'suspended');
    expect((await second.get('/api/admin/accounts')).status).toBe(404);
  });

  test('a manual credit or debit is posted once, however often the button is pressed', async () => {
    const send = (body: object): Promise<Response> =>
      operator.send('POST', `/api/admin/accounts/${account.id}/credit`, { reason: 'goodwill', name: drawName(), ...body });
    const before = (await find(account.email)).balance;
    const left = async (): Promise<string> => formatUsd(asNanos((await find(account.email)).balance - before));
    const endsAtMs = Date.now() + DAY_MS;
    const given = { usd: '12.5', name: drawName(), expiresAtMs: endsAtMs };
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(given)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await left()).toBe('12.5');
    expect(await show()).toMatchObject({
      money: { sources: [{ kind: 'manual' }, { kind: 'manual', amountUsd: '12.5', leftUsd: '12.5', expiresAtMs: endsAtMs }, {}] },
      statement: [{ kind: 'manual', reason: 'goodwill', amountUsd: '12.5' }, { kind: 'manual' }, ...Array.from({ length: 8 }, () => ({}))],
    });
    const taken = { usd: '-2', name: drawName() };
    await Promise.all([send(taken), send(taken)]);
    expect(await left()).toBe('10.5');
    const credits = await database
      .selectFrom('audit')
      .select(['actor', 'detail'])
      .where('action', '=', 'credit')
      .orderBy('created_at')
      .execute();
    expect(credits.map(({ actor, detail }) => [actor, JSON.parse(detail)]).slice(1)).toEqual([
      ['operator@example.com', { nanos: '12500000000', reason: 'goodwill' }],
      ['operator@example.com', { nanos: '-2000000000', reason: 'goodwill' }],
    ]);
    for (const other of [{ usd: '13' }, { usd: '-12.5', expiresAtMs: undefined }, { reason: 'something else' }])
      expect([other, (await send({ ...given, ...other })).status]).toEqual([other, 409]);
    expect(await left()).toBe('10.5');
    const checks = await verifyLedger(database, { longestRequestMs: DAY_MS });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  test('a manual credit requires an amount, a reason, a name and an open account', async () => {
    const good = { usd: '1', reason: 'goodwill', name: drawName() };
    const send = (body: unknown, id = account.id): Promise<Response> => operator.send('POST', `/api/admin/accounts/${id}/credit`, body);
    const bad = [
      { usd: '0' },
      { usd: '1e3' },
      { usd: '1000000.01' },
      { usd: '-1000000.01' },
      { usd: 1 },
      { reason: ' ' },
      { reason: 'a\u0000b' },
      { reason: '\uD800' },
      { name: 'again' },
      { expiresAtMs: Date.now() - 1 },
      { usd: '-1', expiresAtMs: Date.now() + DAY_MS },
      { account: account.id },
    ];
    for (const change of bad) expect([change, (await send({ ...good, ...change })).status]).toEqual([change, 400]);
    expect((await send(good, 'acct_0')).status).toBe(404);
    expect((await send(good, (await find('gone@example.com')).id)).status).toBe(409);
  });

  test('ending all sessions signs the owner out everywhere', async () => {
    expect((await ada.get('/api/account')).status).toBe(200);
    await dashboard.browser().signIn('ada@example.com');
    const end = (): Promise<Response> => operator.send('DELETE', `/api/admin/accounts/${account.id}/sessions`);
    expect((await end()).status).toBe(200);
    expect((await end()).status).toBe(200);
    expect((await ada.get('/api/account')).status).toBe(401);
    expect((await operator.get('/api/account')).status).toBe(200);
    const { owner, audit } = (await show()) as { owner: { sessions: unknown[] }; audit: { action: string }[] };
    expect(owner.sessions).toEqual([]);
    expect(audit.filter(({ action }) => action === 'account.end_sessions')).toMatchObject([
      { actor: 'operator@example.com', changes: [{ field: 'sessions', before: 2, after: 0 }] },
    ]);
  });

  test('operator rights are granted and revoked, but not on your own account and not from the last operator', async () => {
    await ada.signIn('ada@example.com');
    expect((await ada.get('/api/admin/audit')).status).toBe(404);
    expect([await setOperator(account.id, true), await setOperator(account.id, true)]).toEqual([200, 200]);
    // A session that somebody took over earlier gains nothing.
    expect((await ada.get('/api/account')).status).toBe(401);
    await ada.signIn('ada@example.com');
    // Operator rights alone are not enough: a second factor is required.
    expect((await ada.get('/api/admin/audit')).status).toBe(403);
    const { link } = await jsonOf(await operator.send('POST', '/api/admin/settings/invitations', { kind: 'operator' }));
    const token = new URL(String(link)).searchParams.get('token') ?? '';
    expect([await setOperator(account.id, false), await setOperator(account.id, false)]).toEqual([200, 200]);
    // The person may have kept a link.
    expect(await new Invitations(database).find(token)).toMatchObject({ state: 'expired' });
    expect((await ada.get('/api/admin/audit')).status).toBe(404);
    const { audit } = (await show()) as { audit: { action: string }[] };
    expect(audit.filter(({ action }) => action === 'account.operator')).toMatchObject([
      {
        actor: 'operator@example.com',
        subject: account.id,
        changes: [
          { field: 'operator', before: true, after: false },
          { field: 'operatorLinks', before: 1, after: 0 },
        ],
      },
      {
        changes: [
          { field: 'operator', before: false, after: true },
          { field: 'sessions', before: 1, after: 0 },
        ],
      },
    ]);
    const own = await find('operator@example.com');
    expect(await setOperator(own.id, false)).toBe(409);
    expect((await find(own.email)).isAdmin).toBe(true);
    expect(await setOperator((await find('gone@example.com')).id, true)).toBe(409);
  });

  test('two operators who revoke each other at the same moment leave one operator', async () => {
    await enterAsOperator(dashboard, 'third@example.com');
    const both = await Promise.all(['operator@example.com', 'third@example.com'].map(find));
    const outcomes = await Promise.all(both.map((one) => accounts.setOperator(one, false)));
    expect(outcomes.toSorted()).toEqual(['done', 'last_operator']);
    expect((await Promise.all(both.map(({ email }) => find(email)))).filter(({ isAdmin }) => isAdmin)).toHaveLength(1);
  });
});

function drawName(): string {
  return crypto.randomUUID().replaceAll('-', '');
}
