import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SEEDED_KEYS, SEEDED_MODELS, seedUsage } from '../usage/seed-usage.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const FROM_MS = NOW_MS - 3 * DAY_MS;
const TEST_MS = 120_000;

interface Page {
  readonly requests: readonly {
    id: string;
    email: string;
    accountId: string;
    keyId: string;
    keyName: string;
    model: string;
    status: string;
  }[];
  readonly next: string | null;
}

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ada: TestBrowser;
  let adaId: string;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada@example.com');
    adaId = String((await jsonOf(await ada.get('/api/account')))['id']);
    // The keys belong to the account that is seeded first.
    await seedUsage(dashboard.dependencies.database, { accountId: adaId, rows: 200, fromMs: FROM_MS, toMs: NOW_MS });
    await seedUsage(dashboard.dependencies.database, {
      accountId: 'acct_other',
      rows: 100,
      fromMs: FROM_MS - 30,
      toMs: NOW_MS - 30,
      seed: 7,
    });
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const list = async (query: string, range = `from=${FROM_MS - DAY_MS}&to=${NOW_MS}`): Promise<Page> =>
    (await jsonOf(await operator.get(`/api/admin/requests?${range}&${query}`))) as unknown as Page;

  test('the requests of all accounts are listed page by page', async () => {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = await list(`limit=70${next === '' ? '' : `&before=${next}`}`);
      seen.push(...page.requests.map(({ id }) => id));
      next = page.next;
    }
    const { rows } = await allIds();
    expect(seen).toEqual(rows);
    expect(seen).toHaveLength(300);
    const owners = new Set((await list('limit=200')).requests.map(({ email }) => email));
    expect([...owners].toSorted()).toEqual(['acct_other@example.com', 'ada@example.com']);
  });

  test('requests are filtered by account, key, model, provider and outcome', async () => {
    const [key = '', model = ''] = [SEEDED_KEYS[1], SEEDED_MODELS[1]];
    for (const account of ['ADA@example.com', adaId]) {
      const { requests } = await list(`account=${encodeURIComponent(account)}&limit=200`);
      expect(requests).toHaveLength(200);
      expect(requests.every(({ accountId, email }) => accountId === adaId && email === 'ada@example.com')).toBe(true);
    }
    const ofKey = (await list(`key=${key}&limit=200`)).requests;
    expect(ofKey.length).toBeGreaterThan(0);
    expect(ofKey.every(({ keyId, keyName, accountId }) => keyId === key && keyName === 'Key 1' && accountId === adaId)).toBe(true);
    const ofModel = (await list(`model=${model}&limit=200`)).requests;
    expect(new Set(ofModel.map((each) => each.model))).toEqual(new Set([model]));
    expect(new Set(ofModel.map(({ accountId }) => accountId)).size).toBe(2);
    const failed = (await list('status=error&limit=200')).requests;
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['error']));
    expect((await list('error=provider_timeout&limit=200')).requests.length).toBeLessThan(failed.length);
    expect((await list('provider=north')).requests.length).toBeGreaterThan(0);
    for (const none of ['account=nobody%40example.com', 'key=key_unheard_of', 'account=acct_other&key=key_unheard_of'])
      expect((await list(none)).requests).toEqual([]);
    expect((await operator.get(`/api/admin/requests?from=${FROM_MS}&to=${NOW_MS}&unheard=of`)).status).toBe(400);
  });

  test('a request is found by its id in any account and at any time', async () => {
    const { rows } = await allIds();
    const id = rows[17] ?? '';
    const found = await list(`id=${id}&account=operator%40example.com`, `from=${NOW_MS}&to=${NOW_MS + 1}`);
    expect(found.requests.map((each) => each.id)).toEqual([id]);
    expect((await list('id=req_unheard_of')).requests).toEqual([]);
  });

  test('prompts and answers are shown to their owner only', async () => {
    const { requests } = await list('account=ada%40example.com&limit=1');
    const id = requests[0]?.id ?? '';
    const { kysely } = dashboard.dependencies.database;
    await kysely
      .insertInto('request_contents')
      .values({ request_id: id, account_id: adaId, request: '"a secret"', answer: 'kept', is_cut: 0, delete_at: NOW_MS + DAY_MS })
      .execute();
    expect(await jsonOf(await ada.get(`/api/requests/${id}`))).toMatchObject({ content: { request: '"a secret"' } });
    const detail = await jsonOf(await operator.get(`/api/admin/requests/${id}`));
    expect(detail).toMatchObject({ id, email: 'ada@example.com', accountId: adaId, content: null });
    expect(JSON.stringify(detail)).not.toContain('secret');
    expect((await operator.get('/api/admin/requests/req_unheard_of')).status).toBe(404);
  });

  async function allIds(): Promise<{ rows: string[] }> {
    const rows = await dashboard.dependencies.database.kysely
      .selectFrom('usage')
      .select('request_id')
      .orderBy('request_id', 'desc')
      .execute();
    return { rows: rows.map(({ request_id: id }) => id) };
  }
});
