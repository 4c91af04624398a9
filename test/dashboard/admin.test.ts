import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { Accounts, type Account } from '../../src/accounts/accounts.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { jsonOf, OTHER_PASSWORD, secretIn } from './answers.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { isForOperators, routesOf, type Route } from './route-table.ts';
import { describeStores } from './stores.ts';

const HOUR_MS = 3_600_000;
const TEST_MS = 120_000;

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ada: TestBrowser;
  let account: Account;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada@example.com');
    await ada.get('/api/account');
    const found = await new Accounts(dashboard.dependencies.database.kysely).find('ada@example.com');
    if (found === undefined) throw new Error('The new person has no account');
    account = found;
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const routes = (): Route[] =>
    routesOf(dashboard)
      .filter(isForOperators)
      .map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/gu, 'some-id') }));
  const operatorIs = async (values: { two_factor_enabled: number }): Promise<unknown> =>
    dashboard.dependencies.database.kysely.updateTable('people').set(values).where('email', '=', 'operator@example.com').execute();

  test(
    'every route answers 404 to people who are not operators',
    async () => {
      expect(routes().length).toBeGreaterThan(0);
      for (const route of routes()) {
        const answer = await ask(ada, route);
        expect([route, answer.status, await jsonOf(answer)]).toMatchObject([
          route,
          404,
          { error: { code: 'not_found', message: 'Nothing was found at this URL.' } },
        ]);
      }
    },
    TEST_MS,
  );

  test('every route requires a second factor, and the error says what to do', async () => {
    await operatorIs({ two_factor_enabled: 0 });
    for (const route of routes()) {
      const answer = await ask(operator, route);
      expect([route, answer.status]).toEqual([route, 403]);
      expect((await jsonOf(answer))['error']).toMatchObject({ message: expect.stringContaining('Turn it on in your settings') as string });
    }
    await operatorIs({ two_factor_enabled: 1 });
  });

  test('every route requires a session that began with the second factor, and keeps to it through a change of password', async () => {
    const email = 'second@example.com';
    const browser = await dashboard.signedUp(email);
    await browser.get('/api/account');
    const { uri } = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    const code = await createOTP(secretIn(String(uri))).totp();
    expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code })).status).toBe(200);
    const { kysely } = dashboard.dependencies.database;
    await kysely.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
    const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
    expect((await browser.send('POST', '/api/auth/change-password', change)).status).toBe(200);
    expect((await browser.get('/api/admin/audit')).status).toBe(200);
    const again = dashboard.browser();
    await again.signIn(email, OTHER_PASSWORD);
    expect((await again.send('POST', '/api/auth/two-factor/verify-totp', { code })).status).toBe(200);
    expect((await again.get('/api/admin/audit')).status).toBe(200);
    await kysely.updateTable('sessions').set({ passed_second_factor: 0 }).execute();
    for (const route of routes()) expect([route, (await ask(again, route)).status]).toEqual([route, 403]);
    await kysely.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
  });

  test('an old session can read but not change anything', async () => {
    const { kysely } = dashboard.dependencies.database;
    // This column belongs to the library; none of our code writes to it.
    const setAll = (at: string): Promise<unknown> =>
      kysely
        .updateTable('sessions')
        .set({ created_at: at } as never)
        .execute();
    await setAll(new Date(Date.now() - 2 * HOUR_MS).toISOString());
    const changing = routes().filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeGreaterThan(10);
    for (const route of changing) expect([route, (await ask(operator, route)).status]).toEqual([route, 403]);
    expect((await operator.get('/api/admin/audit')).status).toBe(200);
    await setAll(new Date().toISOString());
  });

  test('the audit log shows who changed what, and is searched by email address', async () => {
    const { kysely } = dashboard.dependencies.database;
    await new Accounts(kysely).credit(account, asNanos(5_000_000_000n), { reason: 'an apology', actor: 'operator@example.com' });
    await Bun.sleep(2);
    const { id: keyId } = await jsonOf(await ada.send('POST', '/api/keys', { name: 'notebook' }));
    const read = async (query: string) => jsonOf(await operator.get(`/api/admin/audit?${query}`));
    expect(await read('subject=Ada%40example.com')).toMatchObject({
      entries: [
        { actor: 'ada@example.com', action: 'key.create', subject: keyId, name: 'notebook, ada@example.com' },
        {
          actor: 'operator@example.com',
          action: 'credit',
          subject: account.id,
          name: 'ada@example.com',
          changes: [
            { field: 'usd', before: null, after: '5' },
            { field: 'reason', before: null, after: 'an apology' },
          ],
        },
      ],
      next: null,
    });
    expect((await read('action=credit'))['entries']).toHaveLength(1);
    expect((await read('actor=nobody'))['entries']).toEqual([]);
    expect((await read(''))['actions']).toEqual(['credit', 'key.create']);
    expect((await operator.get('/api/admin/audit?before=%27')).status).toBe(400);
  });

  test('the pages of the audit log have no gaps and no duplicates', async () => {
    const { kysely } = dashboard.dependencies.database;
    const many = 120;
    await kysely
      .insertInto('audit')
      .values(
        Array.from({ length: many }, (_, index) => ({
          id: idOf(index),
          actor: 'test',
          action: 'test',
          subject: 'x',
          detail: '{}',
          created_at: 1000 + Math.floor(index / 40),
        })),
      )
      .execute();
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = (await jsonOf(await operator.get(`/api/admin/audit?action=test${next === '' ? '' : `&before=${next}`}`))) as {
        entries: { id: string }[];
        next: string | null;
      };
      seen.push(...page.entries.map(({ id }) => id));
      next = page.next;
    }
    expect(seen).toEqual(Array.from({ length: many }, (_, index) => idOf(many - 1 - index)));
  });
});

function ask(browser: TestBrowser, { method, path }: Route): Promise<Response> {
  return method === 'GET' ? browser.get(path) : browser.send(method as 'POST', path, {});
}

function idOf(index: number): string {
  return `audit_a${String(index).padStart(3, '0')}`;
}
