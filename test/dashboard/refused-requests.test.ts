import { afterAll, beforeAll, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { idAt, makeId } from '../../src/ids.ts';
import { Refusals, type Refusal } from '../../src/usage/refusals.ts';
import { until } from '../until.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores, type Store } from './stores.ts';

const TEST_MS = 120_000;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
/** The rows that the gate keeps: per second and kind, per second in total, and per account. */
const [SAME_MAX, TOTAL_MAX, ACCOUNT_MAX] = [3, 100, 1000];

interface Page {
  readonly refused: readonly { id: string; errorCode: string; email?: string; others: number }[];
  readonly next: string | null;
}

const accountOf = async (browser: TestBrowser): Promise<string> => String((await jsonOf(await browser.get('/api/account')))['id']);
const list = async (browser: TestBrowser | undefined, path: string): Promise<Page> => {
  const response = await browser?.get(path);
  expect([path, response?.status]).toEqual([path, 200]);
  return (await response?.json()) as Page;
};
const idsOf = (page: Page): string[] => page.refused.map(({ id }) => id);
const account = (n: number): string => `acct_flood${n}`;

function refusalOf(accountId: string, atMs: number, changes: Partial<Refusal> = {}): Refusal {
  const error = new GatewayError('invalid_value', "'n' is not known.", { param: 'n' });
  return { requestId: makeId('req', atMs), accountId, keyId: 'key_1', error, model: 'openai/gpt', isStreaming: true, ...changes };
}

describeStores((makeStore) => {
  let store: Store;
  let dashboard: TestDashboard;
  let [operator, ada, eve]: TestBrowser[] = [];
  let [adaId, eveId] = ['', ''];

  beforeAll(async () => {
    store = await makeStore();
    dashboard = await openDashboard(store);
    operator = await enterAsOperator(dashboard);
    [ada, eve] = [await signUp('ada@example.com'), await signUp('eve@example.com')];
    [adaId, eveId] = [await accountOf(ada), await accountOf(eve)];
  }, TEST_MS);
  afterAll(async () => {
    expect(dashboard.failures).toEqual([]);
    await dashboard.close();
    await store.remove();
  });

  async function signUp(email: string): Promise<TestBrowser> {
    const browser = dashboard.browser();
    expect((await browser.signUp(email)).status).toBe(200);
    return browser;
  }

  const openRefusals = (): Refusals =>
    new Refusals(dashboard.dependencies.database, (event, error) => dashboard.dependencies.fail(event, error));
  /** Records each refusal as if in a separate second. */
  async function keep(all: readonly Refusal[]): Promise<string[]> {
    for (const refusal of all) {
      const refusals = openRefusals();
      refusals.note(refusal);
      await refusals.close();
    }
    return all.map(({ requestId }) => requestId);
  }

  test('an account sees its own, newest first, with pages and filters by id, key and status', async () => {
    const limit = new GatewayError('rate_limit_exceeded', 'Too many.');
    const ids = await keep([
      refusalOf(adaId, NOW_MS - 4),
      refusalOf(adaId, NOW_MS - 3, { keyId: 'key_2', error: limit, model: undefined, isStreaming: false }),
      refusalOf(adaId, NOW_MS - 2),
      refusalOf(eveId, NOW_MS - 1),
    ]);
    const [first = '', second = '', third = '', other = ''] = ids;
    const all = await list(ada, '/api/requests/refused');
    expect(all).toEqual({ refused: expect.any(Array) as never, next: null });
    expect(idsOf(all)).toEqual([third, second, first]);
    expect<readonly object[]>(all.refused.slice(0, 2)).toEqual([
      {
        id: third,
        atMs: NOW_MS - 2,
        status: 400,
        errorCode: 'invalid_value',
        param: 'n',
        message: "'n' is not known.",
        model: 'openai/gpt',
        keyId: 'key_1',
        isStreaming: true,
        others: 0,
      },
      expect.objectContaining({ id: second, status: 429, param: null, model: null, isStreaming: false }) as object,
    ]);
    const page = await list(ada, '/api/requests/refused?limit=2');
    expect([idsOf(page), page.next]).toEqual([[third, second], second]);
    expect(idsOf(await list(ada, `/api/requests/refused?limit=2&before=${second}`))).toEqual([first]);
    expect(idsOf(await list(ada, `/api/requests/refused?id=${first}&key=key_2&status=429`))).toEqual([first]);
    expect(idsOf(await list(ada, '/api/requests/refused?key=key_2'))).toEqual([second]);
    expect(idsOf(await list(ada, '/api/requests/refused?status=400'))).toEqual([third, first]);
    expect(idsOf(await list(ada, `/api/requests/refused?id=${other}`))).toEqual([]);
    for (const wrong of ['status=200', 'status=maybe', 'before=1%27', 'limit=1000'])
      expect([wrong, (await ada?.get(`/api/requests/refused?${wrong}`))?.status]).toEqual([wrong, 400]);
  });

  test('operators see those of all accounts or of one, with their owners', async () => {
    const all = await list(operator, '/api/admin/requests/refused');
    expect(all.refused.map(({ email }) => email)).toEqual(['eve@example.com', ...Array.from({ length: 3 }, () => 'ada@example.com')]);
    const [newest] = all.refused;
    expect(idsOf(await list(operator, '/api/admin/requests/refused?account=eve%40example.com'))).toEqual([newest?.id ?? '']);
    expect(idsOf(await list(operator, `/api/admin/requests/refused?id=${newest?.id}&account=nobody`))).toEqual([newest?.id ?? '']);
    expect(idsOf(await list(operator, '/api/admin/requests/refused?key=key_unheard_of'))).toEqual([]);
    expect((await ada?.get('/api/admin/requests/refused'))?.status).toBe(404);
    expect(await list(operator, `/api/admin/view/${adaId}/requests/refused`)).toEqual(await list(ada, '/api/requests/refused'));
  });

  test('many refusals in one second are stored as a few rows with a count of the others', async () => {
    const refusals = openRefusals();
    for (let count = 0; count < 500; count += 1) refusals.note(refusalOf(account(0), NOW_MS + count));
    refusals.note(refusalOf(account(0), NOW_MS, { keyId: 'key_2' }));
    for (let count = 0; count < 500; count += 1) refusals.note(refusalOf(account(count), NOW_MS, { keyId: `key_${count}` }));
    await refusals.close();
    const rows = await dashboard.dependencies.database.kysely
      .selectFrom('refusals')
      .selectAll()
      .where('account_id', 'like', 'acct_flood%')
      .execute();
    expect(rows).toHaveLength(TOTAL_MAX);
    const same = rows.filter((row) => row.account_id === account(0) && row.key_id === 'key_1');
    expect(same.map(({ others }) => Number(others)).toSorted((one, two) => one - two)).toEqual([0, 0, 500 - SAME_MAX]);
    expect(rows.filter((row) => row.key_id === 'key_2').length).toBeGreaterThan(0);
  });

  test('refusals are written to the database within seconds', async () => {
    const refusals = openRefusals();
    const refusal = refusalOf('acct_soon', NOW_MS);
    refusals.note(refusal);
    const find = async () => (await list(operator, `/api/admin/requests/refused?id=${refusal.requestId}`)).refused[0];
    expect(await until(find)).toMatchObject({ id: refusal.requestId });
    await refusals.close();
  });

  test('the newest thousand of an account are kept, and none longer than requests', async () => {
    const { kysely } = dashboard.dependencies.database;
    const countOf = async (accountId: string): Promise<number> =>
      (await kysely.selectFrom('refusals').select('request_id').where('account_id', '=', accountId).execute()).length;
    const row = await kysely.selectFrom('refusals').selectAll().where('account_id', '=', eveId).executeTakeFirstOrThrow();
    const many = Array.from({ length: 1700 }, (_, n) => ({
      ...row,
      account_id: 'acct_many',
      request_id: makeId('req', NOW_MS - 2 * DAY_MS + n),
    }));
    for (let start = 0; start < many.length; start += 100)
      await kysely
        .insertInto('refusals')
        .values(many.slice(start, start + 100))
        .execute();
    const refusals = openRefusals();
    await refusals.prune(undefined);
    expect(await countOf('acct_many')).toBe(1700);
    const newest = refusalOf('acct_many', NOW_MS);
    refusals.note(newest);
    await refusals.close();
    await refusals.prune(undefined);
    expect(await countOf('acct_many')).toBe(ACCOUNT_MAX);
    expect([await countOf(adaId), await countOf(eveId)]).toEqual([3, 1]);
    await refusals.prune(idAt('req', NOW_MS - DAY_MS));
    expect(await kysely.selectFrom('refusals').select('request_id').where('account_id', '=', 'acct_many').execute()).toEqual([
      { request_id: newest.requestId },
    ]);
    expect([await countOf(adaId), await countOf(eveId)]).toEqual([3, 1]);
  });

  test('they are part of the owner’s export and are deleted with the account', async () => {
    const taken = await jsonOf((await ada?.get('/api/settings/export')) ?? new Response('{}'));
    expect(taken['refused_requests']).toHaveLength(3);
    expect((await ada?.send('POST', '/api/settings/delete', { password: PASSWORD }))?.status).toBe(200);
    expect((await list(operator, `/api/admin/requests/refused?account=${adaId}`)).refused).toEqual([]);
    expect((await list(eve, '/api/requests/refused')).refused).toHaveLength(1);
  });
});
