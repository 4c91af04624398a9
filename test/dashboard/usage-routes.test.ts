import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Keys } from '../../src/accounts/keys.ts';
import { spanOf } from '../../web/time.ts';
import { SEEDED_USERS, seedUsage } from '../usage/seed-usage.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const FROM_MS = NOW_MS - 20 * DAY_MS;

const PAYMENT = { provider: 'manual', purpose: 'top_up', amount: 10_000_000_000n, charge_cents: 1000 } as const;

interface Report {
  readonly zone: string;
  readonly buckets: readonly number[];
  readonly series: readonly { names: string[] | null; values: (string | number)[]; total: Total }[];
  readonly total: Total;
  readonly isOverlapping: boolean;
  readonly former?: { readonly total: Total };
}

interface Week {
  readonly span: { readonly fromMs: number; readonly toMs: number };
  readonly spend: string;
  readonly requests: number;
  readonly former: { readonly requests: number };
}

interface Total {
  readonly spend: string;
  readonly requests: number;
  readonly errors: number;
  readonly latency_ms: number | null;
}

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let ada: TestBrowser;
  let eve: TestBrowser;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    ada = await dashboard.signedUp('ada@example.com');
    eve = await dashboard.signedUp('eve@example.com');
    const { id: accountId } = (await (await ada.get('/api/account')).json()) as { id: string };
    const { database } = dashboard.dependencies;
    await seedUsage(database, { accountId, rows: 2000, fromMs: FROM_MS, toMs: NOW_MS });
    for (const [id, tags] of [
      ['key_seeded0', ['web', 'prod']],
      ['key_seeded1', ['prod']],
    ] as const)
      await database.kysely
        .updateTable('api_keys')
        .set({ tags: JSON.stringify(tags) })
        .where('id', '=', id)
        .execute();
  }, 120_000);
  afterAll(() => dashboard.end());

  test('a report shows spending by model in a time zone, largest first and the rest combined', async () => {
    const { zone, series, total, buckets } = await report(ada, 'zone=Asia/Kathmandu&top=3');
    expect(zone).toBe('Asia/Kathmandu');
    expect(series.map(({ names }) => names === null)).toEqual([false, false, false, true]);
    expect(total.requests).toBe(2000);
    expect(new Date((buckets[1] ?? 0) + 5.75 * 3_600_000).toISOString()).toEndWith('T00:00:00.000Z');
  });

  test('cumulative values end with the total', async () => {
    const { series, total } = await report(ada, 'metric=requests&cumulative=yes&group=status');
    expect(series.reduce((sum, { values }) => sum + Number(values.at(-1)), 0)).toBe(total.requests);
  });

  test('an export has a line for every bucket and series, each with the zone', async () => {
    const query = `from=${FROM_MS}&to=${NOW_MS}&zone=America/St_Johns&group=key&metric=spend&top=20`;
    const response = await ada.get(`/api/usage/export?${query}`);
    expect(response.headers.get('content-type')).toStartWith('text/csv');
    expect(response.headers.get('content-disposition')).toContain('usage-chart.csv');
    // The byte order mark tells spreadsheets that umlauts are UTF-8.
    expect((await response.clone().bytes()).slice(0, 3).toHex()).toBe('efbbbf');
    const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toBe('bucket_start,zone,key,key_name,spend_usd');
    const shown = await report(ada, 'zone=America/St_Johns&group=key&metric=spend&top=20');
    expect(lines).toHaveLength(shown.buckets.length * shown.series.length);
    const [first] = shown.series;
    expect(lines[1]).toEndWith(`,America/St_Johns,${first?.names?.[0]},Key 0,${first?.values[1]}`);
    const table = await (await ada.get(`/api/usage/export?${query}&part=table&format=json`)).json();
    expect(table).toContainEqual(expect.objectContaining({ key: 'total', spend_usd: shown.total.spend }));
  });

  test('two groups make a series of every pair, in the report and in its exports', async () => {
    const { series, total } = await report(ada, 'group=model&second=status&top=20');
    expect(series.every(({ names }) => names === null || (names.length === 2 && ['ok', 'error'].includes(names[1] ?? '')))).toBeTrue();
    expect(series.reduce((sum, { total: own }) => sum + own.requests, 0)).toBe(total.requests);
    const query = `from=${FROM_MS}&to=${NOW_MS}&group=key&second=model&top=20&compare=yes`;
    const [head, ...lines] = (await (await ada.get(`/api/usage/export?${query}&part=table`)).text()).trimEnd().split('\r\n');
    expect(head).toStartWith('from,to,zone,key,key_name,model,spend_usd,requests,');
    expect(head).toEndWith(',latency_ms,former_spend_usd');
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)?.split(',').slice(3, 6)).toEqual(['total', '', '']);
  });

  test('a request counts for every tag of its key, and once in the total', async () => {
    const { series, total, isOverlapping } = await report(ada, 'group=tag&metric=requests');
    const of = (name: string) => series.find(({ names }) => names?.[0] === name)?.total.requests ?? 0;
    const byKey = (await report(ada, 'group=key&metric=requests&top=20')).series;
    const ofKey = (id: string) => byKey.find(({ names }) => names?.[0] === id)?.total.requests ?? 0;
    expect([of('web'), of('prod')]).toEqual([ofKey('key_seeded0'), ofKey('key_seeded0') + ofKey('key_seeded1')]);
    expect(of('prod') + of('')).toBe(total.requests);
    expect([total.requests, isOverlapping]).toEqual([2000, true]);
    expect((await report(ada, 'tag=web')).total.requests).toBe(ofKey('key_seeded0'));
    expect((await report(ada, 'tag=web&key=key_seeded1')).total.requests).toBe(0);
    expect(await (await ada.get('/api/usage/names')).json()).toMatchObject({ tags: ['prod', 'web'] });
  });

  test('requests can be grouped by end user, in the report and in its exports', async () => {
    const { series, total } = await report(ada, 'group=end_user&metric=requests');
    expect(new Map(series.map(({ names, total: own }) => [names?.[0], own.requests]))).toEqual(
      new Map([...SEEDED_USERS, ''].map((name) => [name, 500])),
    );
    expect(total).toEqual((await report(ada, 'group=model')).total);
    expect((await report(ada, `group=model&end_user=${encodeURIComponent('Zoë, of Kraków')}`)).total.requests).toBe(500);
    const query = `from=${FROM_MS}&to=${NOW_MS}&group=end_user&part=table`;
    const lines = (await (await ada.get(`/api/usage/export?${query}`)).text())
      .split('\r\n')
      .map((line) => line.split(',').slice(3).join(','));
    expect(lines[0]).toStartWith('end_user,spend_usd,requests,');
    expect(lines.some((line) => line.startsWith('"Zoë, of Kraków",'))).toBeTrue();
    expect(lines.some((line) => line.startsWith("'=SUM(A1),"))).toBeTrue();
  });

  test('a report of failures shows their count, and their durations on request', async () => {
    const { total } = await report(ada, 'status=error&metric=requests');
    expect(total).toMatchObject({ errors: total.requests, spend: '0', latency_ms: null });
    expect((await report(ada, 'status=ok')).total.requests + total.requests).toBe(2000);
    const { series } = await report(ada, 'group=status&metric=latency_ms');
    expect(series.map(({ names, total: own }) => [names?.[0], Number(own.latency_ms) > 0])).toEqual([
      ['ok', true],
      ['error', true],
    ]);
    expect((await report(ada, 'status=error&metric=latency_ms')).total).toEqual(series[1]?.total ?? total);
  });

  test('a few hours are reported by the minute and add up to the quarter-hours', async () => {
    const [from, to] = [Math.floor(NOW_MS / 900_000) * 900_000 - 18_000_000, Math.floor(NOW_MS / 900_000) * 900_000];
    const read = async (bucket: string): Promise<Report> =>
      (await (await ada.get(`/api/usage?from=${from}&to=${to}&bucket=${bucket}&compare=yes`)).json()) as Report;
    const [minutes, quarters] = [await read('minute'), await read('quarter')];
    expect(minutes.buckets).toHaveLength(300);
    expect(minutes.total).toEqual(quarters.total);
    expect(minutes.series.map(({ names, total }) => [names, total])).toEqual(quarters.series.map(({ names, total }) => [names, total]));
  });

  test.each([
    ['zone=Mars/Olympus', 'zone'],
    ["zone=UTC'; DROP TABLE usage;--", 'zone'],
    ['bucket=minute', 'bucket'],
    ['group=price', 'group'],
    ['metric=cost', 'metric'],
    ['top=1000', 'top'],
    ['bucket=quarter', 'bucket'],
    ['bucket=hour&group=model&second=key', 'bucket'],
    ['group=model&second=model', 'second'],
    ['status=client_gone', 'status'],
  ])('refuses %s and names the parameter', async (query, field) => {
    const response = await ada.get(`/api/usage?from=${FROM_MS}&to=${NOW_MS}&${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid', field } });
  });

  test('a range that runs backwards or is too long is refused', async () => {
    expect((await ada.get(`/api/usage?from=${NOW_MS}&to=${FROM_MS}`)).status).toBe(400);
    expect((await ada.get(`/api/usage?from=${NOW_MS - 2000 * DAY_MS}&to=${NOW_MS}&bucket=month`)).status).toBe(400);
  });

  test('no filter shows the usage of other accounts', async () => {
    expect((await report(eve, 'group=key&key=key_seeded0')).series).toEqual([]);
    expect(await (await eve.get('/api/usage/names')).json()).toEqual({ keys: [], models: [], providers: [], tags: [] });
    expect((await dashboard.browser().get(`/api/usage?from=${FROM_MS}&to=${NOW_MS}`)).status).toBe(401);
  });

  test('a key is shown with its newest real secret, not that of a test request', async () => {
    const bob = await dashboard.signedUp('bob@example.com');
    const { id: accountId } = (await (await bob.get('/api/account')).json()) as { id: string };
    const keys = new Keys(dashboard.dependencies.database.kysely);
    const request = { id: (await keys.create(accountId, { name: 'notebook' })).id, accountId, actor: 'bob' };
    await Bun.sleep(2);
    const rotated = await keys.rotate(request, DAY_MS);
    await Bun.sleep(2);
    await keys.makeTrial(request);
    const { keys: names } = (await (await bob.get('/api/usage/names')).json()) as { keys: { id: string; hint: string }[] };
    const hint = names.find(({ id }) => id === request.id)?.hint;
    expect(hint).toEndWith(typeof rotated === 'string' ? rotated : rotated.secret.slice(-4));
  });

  test('views are saved under a name, replaced by the same name, and deleted only by their account', async () => {
    const view = { page: 'usage', name: 'Errors', search: 'metric=errors' };
    expect((await ada.send('PUT', '/api/usage/views', view)).status).toBe(200);
    expect((await ada.send('PUT', '/api/usage/views', { ...view, search: 'metric=errors&group=key' })).status).toBe(200);
    const [saved, ...others] = await views(ada);
    expect(others).toEqual([]);
    expect(saved).toMatchObject({ name: 'Errors', search: 'metric=errors&group=key' });
    expect(await views(eve)).toEqual([]);
    expect((await eve.send('DELETE', `/api/usage/views/${saved?.id}`)).status).toBe(404);
    expect((await ada.send('DELETE', `/api/usage/views/${saved?.id}`)).status).toBe(200);
    expect(await views(ada)).toEqual([]);
  });

  test('the overview shows balance, runway, periods, time to first token and the latest errors', async () => {
    const overview = (await (await ada.get('/api/overview?zone=Europe/Berlin')).json()) as {
      balance: { availableUsd: string; runwayDays: number };
      periods: { week: Week };
      firstToken: { count: number; p50Ms: number; p95Ms: number };
    };
    const week = overview.periods.week;
    expect(week.requests).toBeWithin(580, 720);
    const days = (week.span.toMs - week.span.fromMs) / DAY_MS;
    expect(overview.balance.runwayDays).toBeCloseTo((Number(overview.balance.availableUsd) / Number(week.spend)) * days, 0);
    expect(overview.firstToken.count).toBeWithin(950, 1000);
    expect(overview.firstToken.p95Ms).toBeGreaterThan(overview.firstToken.p50Ms);
    const spend = (await (await ada.get('/api/overview/spend?zone=Europe/Berlin&by=provider')).json()) as Report;
    expect(spend.buckets).toHaveLength(30);
    expect(spend.total.requests).toBe(2000);
    const { keys, models } = (await (await ada.get('/api/overview/top?zone=UTC')).json()) as { keys: { name: string }[]; models: object[] };
    expect([keys.length, models.length, keys[0]?.name]).toEqual([5, 5, 'Key 0']);
    const { requests } = (await (await ada.get('/api/overview/errors')).json()) as { requests: { status: string }[] };
    expect(requests.map(({ status }) => status)).toEqual(Array(5).fill('error'));
    const empty = (await (await eve.get('/api/overview?zone=UTC')).json()) as { balance: { runwayDays: null } };
    expect(empty.balance.runwayDays).toBeNull();
  });

  // At any time, these zones are on different days.
  test.each(['Pacific/Kiritimati', 'Pacific/Midway'])('seven days are the same on the overview and the usage page, in %s', async (zone) => {
    const { fromMs, toMs } = spanOf({ range: '7d' }, zone, Date.now());
    const usage = (await (await ada.get(`/api/usage?from=${fromMs}&to=${toMs}&zone=${zone}&compare=yes`)).json()) as Report;
    const { week } = ((await (await ada.get(`/api/overview?zone=${zone}`)).json()) as { periods: { week: Week } }).periods;
    expect([week.span.fromMs, week.spend, week.requests]).toEqual([fromMs, usage.total.spend, usage.total.requests]);
    expect(week.former.requests).toBe(usage.former?.total.requests ?? -1);
  });

  test('the latest errors begin with the seven days of the time zone', async () => {
    const lin = await dashboard.signedUp('lin@example.com');
    const { id: accountId } = (await (await lin.get('/api/account')).json()) as { id: string };
    // In one of them it is morning: the last 168 hours begin well before these days.
    const zone = new Date().getUTCHours() < 12 ? 'UTC' : 'Etc/GMT-12';
    const { fromMs } = spanOf({ range: '7d' }, zone, Date.now());
    await seedUsage(dashboard.dependencies.database, { accountId, rows: 1000, fromMs: fromMs - DAY_MS, toMs: fromMs });
    const { requests } = (await (await lin.get(`/api/overview/errors?zone=${zone}`)).json()) as { requests: object[] };
    expect(requests).toEqual([]);
  });

  test('the overview shows a failed payment until one succeeds', async () => {
    const { id } = (await (await eve.get('/api/account')).json()) as { id: string };
    const pay = (status: 'failed' | 'paid', atMs: number) =>
      dashboard.dependencies.database.kysely
        .insertInto('payments')
        .values({
          ...PAYMENT,
          id: `pay_${status}`,
          account_id: id,
          status,
          reason: 'The card was refused.',
          created_at: atMs,
          asked_at: atMs,
        })
        .execute();
    const failed = async (): Promise<unknown> =>
      ((await (await eve.get('/api/overview')).json()) as { failedPayment: unknown }).failedPayment;
    expect(await failed()).toBeNull();
    await pay('failed', NOW_MS - DAY_MS);
    expect(await failed()).toEqual({ purpose: 'top_up', amountUsd: '10', reason: 'The card was refused.' });
    await pay('paid', NOW_MS);
    expect(await failed()).toBeNull();
  });
});

async function report(browser: TestBrowser, query: string): Promise<Report> {
  const response = await browser.get(`/api/usage?from=${FROM_MS}&to=${NOW_MS}&${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Report;
}

async function views(browser: TestBrowser): Promise<readonly { id: string; name: string; search: string }[]> {
  const answer = (await (await browser.get('/api/usage/views?page=usage')).json()) as {
    views: { id: string; name: string; search: string }[];
  };
  return answer.views;
}
