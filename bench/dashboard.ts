/** `bun bench/dashboard.ts [rows] [postgres]`: how long the dashboard's pages take for a busy account. `--help` says more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { sql } from 'kysely';
import { runExports } from '../src/dashboard/export-clock.ts';
import type { OpenDatabase } from '../src/database/connect.ts';
import { postCredit } from '../src/ledger/credit.ts';
import { asNanos } from '../src/ledger/money.ts';
import { gridFrom, HOURS, UTC_DAYS } from '../src/usage/grid.ts';
import { advanceHistory } from '../src/usage/history.ts';
import { startOf } from '../src/usage/zone.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from '../test/dashboard/open-dashboard.ts';
import { SEEDED_KEYS, SEEDED_MODELS, seedUsage } from '../test/usage/seed-usage.ts';
import { POSTGRES_HELP, readPostgresAddress } from './postgres-address.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;
/** Fewer would leave days without a request. */
const ROWS_MIN = 1000;
const REPEATS = 12;
const SAMPLE_MS = 10;
const ZONE = 'Asia/Kathmandu';

const [rows, databaseUrl] = new Command('bun bench/dashboard.ts')
  .description("Measures how long the dashboard's pages take for an account with many requests, and how much memory an export needs.")
  .argument('[rows]', 'how many requests the account has made', readRows, 1_000_000)
  .argument('[postgres]', POSTGRES_HELP, readPostgresAddress)
  .parse().processedArgs as [rows: number, databaseUrl: string | undefined];
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-dashboard-'));
const nowMs = Date.now();

const dashboard = await openDashboard({ databaseUrl, databasePath: join(folder, 'tollgate.db'), remove: async () => undefined });
try {
  const browser = dashboard.browser();
  await browser.signUp('bench@example.com');
  const { id } = (await (await browser.get('/api/account')).json()) as { id: string };
  await prepare(dashboard.dependencies.database, id);
  for (const [name, path] of pages(await readMiddleId(browser))) await measure(name, () => browser.get(path));
  await measureExport(dashboard, browser);
} finally {
  await dashboard.close();
  rmSync(folder, { recursive: true });
}

function readRows(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= ROWS_MIN) return count;
  throw new InvalidArgumentError(`It takes a whole number of at least ${ROWS_MIN}.`);
}

/** Returns a request in the middle of the period, where computing the balance takes the most rows. */
async function readMiddleId(browser: TestBrowser): Promise<string> {
  const middleMs = nowMs - (DAYS / 2) * DAY_MS;
  const answer = await browser.get(`/api/requests?from=${middleMs - DAY_MS}&to=${middleMs}&limit=1`);
  const { requests } = (await answer.json()) as { requests: readonly { id: string }[] };
  return requests[0]?.id ?? '';
}

async function prepare(opened: OpenDatabase, accountId: string): Promise<void> {
  if (opened.dialect === 'sqlite') await sql`PRAGMA synchronous = OFF`.execute(opened.kysely);
  const startedAtMs = performance.now();
  await seedUsage(opened, { accountId, rows, fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs });
  for (let day = 0; day < DAYS; day += 1) await topUp(opened, accountId, nowMs - (day + 0.3) * DAY_MS);
  if (opened.dialect === 'postgres') await sql`VACUUM ANALYZE`.execute(opened.kysely);
  console.log(`${opened.dialect}: ${rows} requests in ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`);
  const summedAtMs = performance.now();
  const midnightMs = startOf('day', nowMs, ZONE);
  for (const grid of [HOURS, UTC_DAYS, gridFrom('day', midnightMs), gridFrom('hour', midnightMs)])
    while ((await advanceHistory(opened, { accountId, grid, nowMs })) === 'behind');
  console.log(`history summed up in ${((performance.now() - summedAtMs) / 1000).toFixed(1)} s`);
  if (opened.dialect === 'postgres') await sql`VACUUM ANALYZE`.execute(opened.kysely);
}

/** Adds a daily credit, so that a statement of credit has a day of charges between its lines. */
async function topUp({ kysely }: OpenDatabase, accountId: string, atMs: number): Promise<void> {
  const posting = { house: 'manual_clearing', kind: 'manual', source: `bench:${atMs}`, reason: 'bench' } as const;
  await postCredit(kysely, { ...posting, accountId, amount: asNanos(1_000_000_000n), atMs: Math.floor(atMs) });
}

function pages(newestId: string): [name: string, path: string][] {
  // As the pages request them: whole days of the zone, including today.
  const midnightMs = startOf('day', nowMs, ZONE);
  const range = (days: number): string => `from=${midnightMs - (days - 1) * DAY_MS}&to=${midnightMs + DAY_MS}`;
  const zone = `zone=${ZONE}`;
  const key = `key=${SEEDED_KEYS[9]}`;
  const often = `key=${SEEDED_KEYS[0]}`;
  return [
    ['overview', `/api/overview?${zone}`],
    ['overview, spend by model', `/api/overview/spend?${zone}&by=model`],
    ['overview, top keys and models', `/api/overview/top?${zone}`],
    ['overview, latest errors', '/api/overview/errors'],
    ['keys', '/api/keys'],
    ['one key', `/api/keys/${SEEDED_KEYS[0]}`],
    ['usage, 6 hours by minute and model', `/api/usage?from=${nowMs - DAY_MS / 4}&to=${nowMs}&${zone}&bucket=minute`],
    ['usage, 1 day by hour and model', `/api/usage?${range(1)}&${zone}&bucket=hour`],
    ['usage, 16 days by hour and model', `/api/usage?${range(16)}&${zone}&bucket=hour`],
    ['usage, 7 days by hour, model and key', `/api/usage?${range(7)}&${zone}&bucket=hour&second=key`],
    ['usage, 7 days by model, compared', `/api/usage?${range(7)}&${zone}&compare=yes`],
    ['usage, 30 days by key, compared', `/api/usage?${range(30)}&${zone}&group=key&compare=yes`],
    ['usage, 30 days by tag and model', `/api/usage?${range(30)}&${zone}&group=tag&second=model`],
    ['usage, 90 days by model', `/api/usage?${range(90)}&${zone}`],
    ['usage, 90 days by model, in UTC', `/api/usage?${range(90)}&zone=UTC`],
    ['usage, 90 days by model, of failures', `/api/usage?${range(90)}&${zone}&status=error&metric=requests`],
    ['usage, 7 days by model of one key', `/api/usage?${range(7)}&${zone}&${often}`],
    ['usage, 30 days by model of one key', `/api/usage?${range(30)}&${zone}&${often}`],
    ['usage, 90 days by model of one key', `/api/usage?${range(90)}&${zone}&${often}`],
    ['usage, 90 days by model and key', `/api/usage?${range(90)}&${zone}&second=key`],
    ['usage, 90 days by two, compared', `/api/usage?${range(90)}&${zone}&second=key&provider=north&compare=yes`],
    ['usage, names for the filters', '/api/usage/names'],
    ['requests, newest of 90 days', `/api/requests?${range(90)}`],
    ['requests, of a rare key', `/api/requests?${range(90)}&${key}`],
    ['requests, of a rare key and model', `/api/requests?${range(90)}&${key}&model=${SEEDED_MODELS[11]}`],
    ['requests, failed', `/api/requests?${range(90)}&status=error`],
    ['requests, no match', `/api/requests?${range(90)}&finish=unheard_of`],
    ['requests, bars of 90 days', `/api/requests/histogram?${range(90)}`],
    ['requests, bars of one key', `/api/requests/histogram?${range(90)}&${key}`],
    ['requests, bars of one key and model', `/api/requests/histogram?${range(90)}&${key}&model=${SEEDED_MODELS[0]}`],
    ['requests, one in detail', `/api/requests/${newestId}`],
    ['statement, newest', '/api/statement'],
    ['statement, credit only', '/api/statement?kind=manual,paid,promo,refund'],
    ['statement, a week in the past', `/api/statement?from=${nowMs - 40 * DAY_MS}&to=${nowMs - 33 * DAY_MS}`],
  ];
}

/** Prints the best of several runs, since other programs may use the machine, and the CPU time of this process, which they affect less. */
async function measure(name: string, ask: () => Promise<Response>): Promise<void> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  for (let turn = 0; turn < REPEATS; turn += 1) {
    const [startedAtMs, cpu] = [performance.now(), process.cpuUsage()];
    const answer = await ask();
    await answer.arrayBuffer();
    const { user, system } = process.cpuUsage(cpu);
    times.push(performance.now() - startedAtMs);
    cpuTimes.push((user + system) / 1000);
    if (!answer.ok) throw new Error(`${name}: status ${answer.status}`);
  }
  const [best, cpuBest] = [Math.min(...times), Math.min(...cpuTimes)].map((ms) => ms.toFixed(0).padStart(5));
  console.log(`${name.padEnd(40)} ${best} ms, CPU ${cpuBest} ms`);
}

/** Exports everything to a file, downloads it, and prints how much memory grew meanwhile. */
async function measureExport({ dependencies }: TestDashboard, browser: TestBrowser): Promise<void> {
  const order = { from: nowMs - DAYS * DAY_MS, to: nowMs, zone: ZONE };
  const { id } = (await (await browser.send('POST', '/api/requests/exports', order)).json()) as { id: string };
  const making = await watchMemory(() => runExports(dependencies, 'bench', new AbortController().signal));
  let bytes = 0;
  const sending = await watchMemory(async () => {
    const { body } = await browser.get(`/api/requests/exports/${id}/file`);
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) bytes += piece.byteLength;
  });
  console.log(`export of ${rows} requests, ${(bytes / 1e6).toFixed(0)} MB compressed: made in ${making}, sent in ${sending}`);
}

async function watchMemory(work: () => Promise<void>): Promise<string> {
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, SAMPLE_MS);
  const startedAtMs = performance.now();
  await work();
  clearInterval(timer);
  return `${((performance.now() - startedAtMs) / 1000).toFixed(1)} s with ${((peak - before) / 1e6).toFixed(0)} MB more at most`;
}
