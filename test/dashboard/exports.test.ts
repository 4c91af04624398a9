import { afterAll, beforeAll, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { runExports } from '../../src/dashboard/export-clock.ts';
import { ExportJobs } from '../../src/usage/export-jobs.ts';
import { STREAMED_ROWS_MAX } from '../../src/usage/export-size.ts';
import { workOnExport } from '../../src/usage/export-work.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { jsonOf, tokenOf } from './answers.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { openDashboard, ORIGIN, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const RANGE = { from: String(NOW_MS - 30 * DAY_MS), to: String(NOW_MS) };
/** Enough rows for several steps. */
const ROWS = 20_000;
const EMAIL = 'ada@example.com';

interface Listed {
  readonly exports: readonly {
    id: string;
    state: string;
    part: number;
    rows: number;
    bytes: number;
    problem: string | null;
    expiresAtMs: number | null;
  }[];
  readonly isMailed: boolean;
}

describeStores((makeStore) => {
  let mailbox: Mailbox;
  let dashboard: TestDashboard;
  let ada: TestBrowser;
  let accountId: string;
  let jobs: ExportJobs;

  beforeAll(async () => {
    mailbox = await openMailbox();
    dashboard = await openDashboard(await makeStore(), { settings: { smtpUrl: mailbox.url } });
    ada = await dashboard.signedUp(EMAIL);
    await ada.send('POST', '/api/verification', { token: tokenOf(await mailbox.nextLink(EMAIL)) });
    accountId = String((await jsonOf(await ada.get('/api/account')))['id']);
    await seedUsage(dashboard.dependencies.database, { accountId, rows: ROWS, fromMs: NOW_MS - 30 * DAY_MS, toMs: NOW_MS });
    jobs = new ExportJobs(dashboard.dependencies.database.kysely);
  }, 120_000);
  afterAll(async () => {
    await dashboard.end();
    await mailbox.close();
  });

  const ask = async (query: Readonly<Record<string, string>> = {}): Promise<string> => {
    const answer = await ada.send('POST', '/api/requests/exports', { ...RANGE, ...query });
    expect([answer.status, answer.status === 201 ? '' : await answer.text()]).toEqual([201, '']);
    return String((await jsonOf(answer))['id']);
  };
  const list = async (): Promise<Listed> => (await (await ada.get('/api/requests/exports')).json()) as Listed;
  const work = (worker = 'worker'): Promise<void> => runExports(dashboard.dependencies, worker, new AbortController().signal);
  const fileOf = async (id: string): Promise<Response> => ada.get(`/api/requests/exports/${id}/file`);
  const textOf = async (id: string): Promise<string> => gunzipSync(Buffer.from(await (await fileOf(id)).arrayBuffer())).toString('utf8');
  const streamed = async (query: Readonly<Record<string, string>>): Promise<string> =>
    (await ada.get(`/api/requests/export?${new URLSearchParams({ ...RANGE, ...query })}`)).text();

  test('a prepared file equals the streamed one, compressed, and its owner gets an email without secrets', async () => {
    const query = { zone: 'Asia/Kolkata', status: 'ok', cost: '0.0005', costMax: '0.02' };
    const id = await ask(query);
    expect((await list()).exports).toMatchObject([{ id, state: 'waiting', rows: 0, expiresAtMs: null }]);
    expect((await fileOf(id)).status).toBe(409);
    await work();
    const [job] = (await list()).exports;
    expect(job).toMatchObject({ state: 'done', part: 1 });
    expect(job?.expiresAtMs).toBeWithin(Date.now() + 7 * DAY_MS - 60_000, Date.now() + 7 * DAY_MS + 1);
    const text = await textOf(id);
    expect(text).toBe(await streamed(query));
    expect(text.trimEnd().split('\r\n')).toHaveLength((job?.rows ?? 0) + 1);
    expect((await fileOf(id)).headers.get('content-disposition')).toMatch(/requests-\d{4}-\d\d-\d\d\.csv\.gz/);
    const email = await mailbox.next(EMAIL);
    expect(email).toContain('Your export is ready');
    expect(email).toContain(`${ORIGIN}/requests\r\n`);
    expect(email).not.toContain(id);
    expect((await list()).isMailed).toBe(true);
  }, 120_000);

  test('JSON lines can be prepared too, and an empty result is a valid file', async () => {
    const id = await ask({ format: 'jsonl', key: 'key_seeded9' });
    await work();
    expect(await textOf(id)).toBe(await streamed({ format: 'jsonl', key: 'key_seeded9' }));
    const nothing = await ask({ format: 'jsonl', finish: 'unheard_of' });
    await work();
    expect(await textOf(nothing)).toBe('');
    await mailbox.next(EMAIL);
    await mailbox.next(EMAIL);
  }, 120_000);

  test('an account has one running export; another can start once it is cancelled', async () => {
    const id = await ask();
    expect((await ada.send('POST', '/api/requests/exports', RANGE)).status).toBe(409);
    expect((await ada.send('DELETE', `/api/requests/exports/${id}`)).status).toBe(200);
    expect((await ada.send('DELETE', `/api/requests/exports/${id}`)).status).toBe(404);
    await work();
    expect((await list()).exports.map((job) => job.id)).not.toContain(id);
  });

  test('the job of a dead node is resumed where it stopped, without losses or duplicates', async () => {
    const id = await ask();
    const claimed = await jobs.claim('dead');
    const stopping = new AbortController();
    // The worker does one step and then dies.
    const { database } = dashboard.dependencies;
    const stopAfterOne = Object.assign(new ExportJobs(database.kysely), {
      advance: async (...step: Parameters<ExportJobs['advance']>) => {
        stopping.abort();
        return jobs.advance(...step);
      },
    });
    if (claimed === undefined) throw new Error('nothing was claimed');
    expect(await workOnExport({ database, jobs: stopAfterOne, worker: 'dead', signal: stopping.signal }, claimed)).toBeUndefined();
    const [half] = (await list()).exports;
    expect(half).toMatchObject({ id, state: 'running', rows: 4000 });
    expect(half?.part).toBeWithin(0.15, 0.25);
    await work('alive');
    expect((await list()).exports[0]).toMatchObject({ state: 'running' });
    await database.kysely
      .updateTable('export_jobs')
      .set({ seen_at: Date.now() - 90_000 })
      .where('id', '=', id)
      .execute();
    await work('alive');
    expect((await list()).exports[0]).toMatchObject({ state: 'done', rows: ROWS });
    expect(await textOf(id)).toBe(await streamed({}));
    // The dead worker comes back, but no longer owns the job.
    expect(await jobs.advance(claimed, 'dead', { bytes: undefined, rowCount: 1, next: undefined })).toBeUndefined();
    await mailbox.next(EMAIL);
  }, 120_000);

  test('a worker that shuts down releases its job to the next one at once', async () => {
    const id = await ask();
    await jobs.claim('leaving');
    await jobs.release('leaving');
    await work('next');
    expect((await list()).exports.find((job) => job.id === id)?.state).toBe('done');
    await mailbox.next(EMAIL);
  }, 120_000);

  test('a job that makes no progress fails, and its owner gets an email', async () => {
    const id = await ask();
    await dashboard.dependencies.database.kysely.updateTable('export_jobs').set({ tries: 5 }).where('id', '=', id).execute();
    await work();
    expect((await list()).exports[0]).toMatchObject({ id, state: 'failed', problem: expect.stringContaining('Try again later') });
    expect(await mailbox.next(EMAIL)).toContain('Your export failed');
  });

  test('the oldest export is deleted when there are too many, and all when they expire', async () => {
    const { kysely } = dashboard.dependencies.database;
    const before = (await list()).exports.map((job) => job.id);
    expect(before).toHaveLength(5);
    const id = await ask({ key: 'key_seeded9' });
    await work();
    await mailbox.next(EMAIL);
    expect((await list()).exports.map((job) => job.id)).toEqual([id, ...before.slice(0, 4)]);
    while (await jobs.prune(Date.now() + 8 * DAY_MS));
    expect(await list()).toMatchObject({ exports: [] });
    expect(await kysely.selectFrom('export_chunks').select('n').execute()).toEqual([]);
    expect(await kysely.selectFrom('export_jobs').select('id').execute()).toEqual([]);
  }, 120_000);

  test('large exports are not streamed, and the page knows that in advance', async () => {
    const { kysely } = dashboard.dependencies.database;
    const histogram = async (query: string): Promise<unknown> =>
      (await jsonOf(await ada.get(`/api/requests/histogram?${new URLSearchParams(RANGE)}${query}`)))['isLarge'];
    expect(await histogram('')).toBe(false);
    await kysely.updateTable('usage_rollups').set({ requests: STREAMED_ROWS_MAX }).where('key_id', '=', 'key_seeded0').execute();
    expect(await histogram('')).toBe(true);
    expect(await histogram('&key=key_seeded9')).toBe(false);
    const refused = await ada.get(`/api/requests/export?${new URLSearchParams(RANGE)}`);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('Prepare the file in the background')]);
  });

  test('closing an account deletes its exports', async () => {
    await ask({ key: 'key_seeded9' });
    const closed = await ada.send('POST', '/api/settings/delete', { password: PASSWORD });
    expect([closed.status, closed.ok ? '' : await closed.text()]).toEqual([200, '']);
    await work();
    while (await jobs.prune(Date.now()));
    const { kysely } = dashboard.dependencies.database;
    expect(await kysely.selectFrom('export_jobs').selectAll().execute()).toEqual([]);
    const actors = await kysely.selectFrom('audit').select('actor').distinct().where('action', '=', 'export').execute();
    expect(actors).toEqual([{ actor: 'deleted user' }]);
  });
});
