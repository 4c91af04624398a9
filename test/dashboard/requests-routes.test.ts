import { afterAll, beforeAll, expect, test } from 'bun:test';
import { asNanos, formatUsd } from '../../src/ledger/money.ts';
import { readStatement } from '../../src/ledger/statement.ts';
import { Contents } from '../../src/usage/contents.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const FROM_MS = NOW_MS - 3 * DAY_MS;
const RANGE = `from=${FROM_MS}&to=${NOW_MS}`;

interface Page {
  readonly requests: readonly { id: string; model: string; status: string; costUsd: string }[];
  readonly next: string | null;
}

interface Histogram {
  readonly bars: readonly { ok: number; errors: number }[];
  readonly total: { requests: number; spend: string };
  readonly ignored: readonly string[];
}

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let ada: TestBrowser;
  let eve: TestBrowser;
  let accountId: string;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    ada = await dashboard.signedUp('ada@example.com');
    eve = await dashboard.signedUp('eve@example.com');
    accountId = ((await (await ada.get('/api/account')).json()) as { id: string }).id;
    await seedUsage(dashboard.dependencies.database, { accountId, rows: 500, fromMs: FROM_MS, toMs: NOW_MS });
  }, 120_000);
  afterAll(() => dashboard.end());

  const list = async (query: string, browser = ada): Promise<Page> => {
    const response = await browser.get(`/api/requests?${RANGE}&${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  };

  const histogram = async (query: string): Promise<Histogram> =>
    (await (await ada.get(`/api/requests/histogram?${RANGE}&${query}`)).json()) as Histogram;

  test('each page continues where the previous one ended', async () => {
    const first = await list('limit=30');
    const second = await list(`limit=30&before=${first.next}`);
    const both = await list('limit=60');
    expect([...first.requests, ...second.requests]).toEqual([...both.requests]);
  });

  test('every cost matches its equation to the nano-dollar, and the ledger', async () => {
    const { requests } = await list('limit=60');
    for (const { id, costUsd, status } of requests) {
      const detail = (await (await ada.get(`/api/requests/${id}`)).json()) as {
        equation: { type: string; isExact: boolean; roundedUsd: string; costUsd: string };
        transfer: { amountUsd: string } | null;
      };
      if (status === 'error')
        expect(detail).toMatchObject({ equation: { type: 'free' }, transfer: null, error: { status: expect.any(Number) } });
      else
        expect(detail).toMatchObject({
          equation: { type: 'computed', isExact: true, roundedUsd: costUsd, costUsd },
          transfer: { id, amountUsd: costUsd },
        });
    }
  });

  test('exports contain exactly the listed requests, as CSV and as JSON lines', async () => {
    const query = 'status=ok&stream=yes&key=key_seeded0,key_seeded1&cost=0.001&costMax=0.02&tokensMax=6000&durationMax=6000';
    const { requests } = await list(`${query}&limit=200`);
    expect(requests.length).toBeGreaterThan(20);
    const csv = await (await ada.get(`/api/requests/export?${RANGE}&${query}&zone=Asia/Kolkata`)).text();
    const lines = csv.trimEnd().split('\r\n');
    expect(lines[0]).toStartWith('request_id,time,zone,status,');
    expect(lines.slice(1).map((line) => line.split(',')[0] ?? '')).toEqual(requests.map(({ id }) => id));
    expect(lines[1]).toMatch(/^req_\w+,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+05:30,Asia\/Kolkata,ok,/);
    const jsonl = await (await ada.get(`/api/requests/export?${RANGE}&${query}&format=jsonl`)).text();
    const objects = jsonl
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { request_id: string; cost_usd: string });
    expect(objects.map(({ request_id: id, cost_usd: usd }) => [id, usd])).toEqual(requests.map(({ id, costUsd }) => [id, costUsd]));
  });

  test('the bars add up to the requests of a key, and report filters that they ignore', async () => {
    const { bars, ignored } = await histogram('key=key_seeded0');
    const { requests } = await list('key=key_seeded0&limit=200');
    expect(bars.reduce((sum, { ok, errors }) => sum + ok + errors, 0)).toBe(requests.length);
    expect(ignored).toEqual([]);
    const failed = await list('status=error&limit=200');
    expect((await histogram('status=error')).total).toMatchObject({ requests: failed.requests.length, spend: '0' });
    expect((await histogram('finish=stop&ttft=5')).ignored).toEqual(['finish', 'ttft']);
    expect((await histogram('id=req_nope')).ignored).toEqual(['id']);
  });

  test('requests are filtered by the tags of their keys and by outcome', async () => {
    await dashboard.dependencies.database.kysely
      .updateTable('api_keys')
      .set({ tags: JSON.stringify(['web']) })
      .where('id', '=', 'key_seeded1')
      .execute();
    const { requests } = await list('tag=web&limit=200');
    expect(requests.map(({ id }) => id)).toEqual((await list('key=key_seeded1&limit=200')).requests.map(({ id }) => id));
    expect((await histogram('tag=web')).total.requests).toBe(requests.length);
    expect((await list('tag=unused')).requests).toEqual([]);
    await dashboard.dependencies.database.kysely
      .updateTable('usage')
      .set({ outcome: 'client_gone' })
      .where('request_id', '=', requests[3]?.id ?? '')
      .execute();
    expect((await list('status=client_gone')).requests.map(({ id }) => id)).toEqual([requests[3]?.id ?? '']);
    expect((await histogram('status=client_gone')).ignored).toEqual(['status']);
    expect((await list('status=ok&tag=web&limit=200')).requests.length).toBe(requests.filter(({ status }) => status === 'ok').length);
  });

  test('requests are filtered by end user', async () => {
    const { requests } = await list('end_user=customer-1&limit=200');
    expect(requests.length).toBeGreaterThan(0);
    const { id } = requests[0] ?? { id: '' };
    expect(await (await ada.get(`/api/requests/${id}`)).json()).toMatchObject({ endUser: 'customer-1' });
    expect((await list('end_user=nobody')).requests).toEqual([]);
    expect((await histogram('end_user=customer-1')).ignored).toEqual(['end_user']);
  });

  test('the balance before and after a charge matches the statement', async () => {
    const statement = (await readStatement(dashboard.dependencies.database.kysely, accountId, { linesMax: 400 })).lines;
    for (const { id, amount, balance } of [statement[0], statement[7], statement[300]].filter((line) => line !== undefined)) {
      const { transfer } = (await (await ada.get(`/api/requests/${id}`)).json()) as { transfer: Record<string, string> };
      expect(transfer).toMatchObject({
        balanceBeforeUsd: formatUsd(asNanos(balance - amount)),
        balanceAfterUsd: formatUsd(balance),
      });
    }
  });

  test('a request of another account is not found, listed or exported', async () => {
    const [one] = (await list('limit=1')).requests;
    expect((await eve.get(`/api/requests/${one?.id}`)).status).toBe(404);
    expect((await list(`id=${one?.id}`, eve)).requests).toEqual([]);
    expect((await (await eve.get(`/api/requests/export?${RANGE}&key=key_seeded0`)).text()).trimEnd().split('\r\n')).toHaveLength(1);
    expect((await list(`id=${one?.id}`)).requests).toHaveLength(1);
  });

  test.each([
    'status=maybe',
    'cost=-1',
    'cost=much',
    'costMax=-1',
    'tokens=1.5',
    'tokensMax=many',
    'stream=perhaps',
    'before=1%27%20OR%201=1',
    'limit=100000',
  ])('refuses the invalid filter %s', async (query) => {
    expect((await ada.get(`/api/requests?${RANGE}&${query}`)).status).toBe(400);
  });

  test('prompts and answers are recorded only if turned on, shown to their account, and deleted when they expire', async () => {
    expect(await (await ada.get('/api/requests/logging')).json()).toEqual({ days: null });
    expect((await ada.send('PUT', '/api/requests/logging', { days: 0 })).status).toBe(400);
    expect(await (await ada.send('PUT', '/api/requests/logging', { days: 7 })).json()).toEqual({ days: 7 });
    const [one] = (await list('limit=1')).requests;
    const contents = new Contents(dashboard.dependencies.database, (event, error) => dashboard.dependencies.fail(event, error));
    const request = { messages: [{ role: 'user', content: `a picture ${'x'.repeat(50_000)}` }] };
    contents.record({ requestId: one?.id ?? '', accountId, request, answer: 'No\0thing.', days: 7 });
    await contents.close();
    const detail = (await (await ada.get(`/api/requests/${one?.id}`)).json()) as {
      content: { request: string; answer: string; isCut: boolean; deleteAtMs: number };
    };
    expect(detail.content).toMatchObject({ answer: 'Nothing.', isCut: true });
    expect(detail.content.request.length).toBeLessThan(21_000);
    expect(detail.content.deleteAtMs).toBeWithin(Date.now() + 7 * DAY_MS - 60_000, Date.now() + 7 * DAY_MS + 1);
    expect((await eve.get(`/api/requests/${one?.id}`)).status).toBe(404);
    expect(await contents.prune(Date.now() + 6 * DAY_MS)).toBe(0);
    expect(await contents.prune(Date.now() + 8 * DAY_MS)).toBe(1);
    expect(await (await ada.get(`/api/requests/${one?.id}`)).json()).toMatchObject({ content: null });
    expect(await (await ada.send('PUT', '/api/requests/logging', { days: null })).json()).toEqual({ days: null });
    expect(await (await ada.send('DELETE', '/api/requests/contents')).json()).toEqual({ deleted: 0 });
  });

  test('all expired prompts and answers are deleted at once, however many', async () => {
    const contents = new Contents(dashboard.dependencies.database, (event, error) => dashboard.dependencies.fail(event, error));
    for (let count = 0; count < 1200; count += 1)
      contents.record({ requestId: `req_old_${count}`, accountId, request: {}, answer: 'Old.', days: 7 });
    await contents.close();
    expect(await contents.prune(Date.now() + 8 * DAY_MS)).toBe(1200);
  });

  test('the statement shows every movement with its balance, as pages and as a file', async () => {
    interface Lines {
      readonly lines: readonly { id: string; kind: string; amountUsd: string; balanceUsd: string }[];
      readonly next: string | null;
    }
    const statement = async (query: string): Promise<Lines> => (await (await ada.get(`/api/statement?${query}`)).json()) as Lines;
    const first = await statement('limit=20');
    const second = await statement(`limit=20&after=${encodeURIComponent(first.next ?? '')}`);
    const { balanceUsd } = (await (await ada.get('/api/account')).json()) as { balanceUsd: string };
    expect(first.lines[0]?.balanceUsd).toBe(balanceUsd);
    expect([...first.lines, ...second.lines]).toEqual([...(await statement('limit=40')).lines]);
    const given = await statement('kind=manual');
    expect(given.lines).toMatchObject([{ kind: 'manual', amountUsd: '1000000', balanceUsd: '1000000' }]);
    const all = (await readStatement(dashboard.dependencies.database.kysely, accountId, { linesMax: 1000 })).lines;
    const csv = (await (await ada.get('/api/statement/export?zone=UTC')).text()).trimEnd().split('\r\n');
    expect(csv.slice(1).map((line) => line.split(',')[0] ?? '')).toEqual(all.map(({ id }) => id));
    expect((await statement('limit=5')).lines).not.toEqual([]);
    expect(((await (await eve.get('/api/statement')).json()) as Lines).lines).toEqual([]);
    expect((await ada.get('/api/statement?after=nowhere')).status).toBe(400);
  });
});
