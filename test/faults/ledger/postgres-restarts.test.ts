import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { postgresUrl, startPrivatePostgres } from '../../services/postgres.ts';
import type { PrivatePostgres } from '../../services/private-postgres.ts';
import { childrenOf, signalProcess } from '../../services/processes.ts';
import { costNanos } from '../../simulator/invoice.ts';
import { seedRandom } from '../../simulator/random.ts';
import type { JsonObject, Usage } from '../../simulator/wire.ts';
import { ask, errorCodeOf, isFinished, type Asked } from './ask.ts';
import { judge, readBooks } from './judge.ts';
import { describeBody, invoiceOf, makeChat, obeyMessages, startLoad, type Sent } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey } from './site.ts';
import { until } from '../../until.ts';

const RESTARTS = 20;
const SEED = Number(process.env['TOLLGATE_SEED'] ?? Date.now() % 1_000_000_000);
const NODES = 2;
const CALLERS = 12;
const APPETITE = { wordsMax: 30, gapMsMax: 30 };
const UP_MS = 800;
const DOWN_MS = 400;
const BACK_WITHIN_MS = 5000;
const HEARD_WITHIN_MS = 2000;
/** A hold may wait for five seconds. */
const REFUSED_WITHIN_MS = 8000;
const SHORT = { words: 1, gapMs: 0, isStreaming: false };
const LONG = { words: 20, gapMs: 100, isStreaming: true };

describe.skipIf(postgresUrl === undefined)('PostgreSQL killed under load', () => {
  let postgres: PrivatePostgres;
  let site: Site;
  let nodes: readonly GatewayNode[];
  let keys: readonly SiteKey[];

  beforeAll(async () => {
    postgres = await startPrivatePostgres();
    site = await openSite({ store: 'postgres', databaseUrl: postgres.url });
    keys = await site.makeKeys('100000', CALLERS);
    nodes = await Promise.all(Array.from({ length: NODES }, () => site.startNode()));
  }, 120_000);
  afterAll(async () => {
    await site.stop();
    await postgres.stop();
  }, 120_000);

  test(`${RESTARTS} times loses no charge, and work continues within five seconds`, async () => {
    console.log(`postgres-restarts: TOLLGATE_SEED=${SEED}`);
    const random = seedRandom(SEED);
    const sinceMs = Date.now();
    const prober = await site.makeKey('1000');
    obeyMessages(site.provider);
    const load = startLoad(
      nodes.map(({ origin }) => origin),
      keys,
      random,
      APPETITE,
    );
    const backMs: number[] = [];
    const probes: Sent[] = [];
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await Bun.sleep(random.below(UP_MS));
      await postgres.kill();
      await Bun.sleep(random.below(DOWN_MS));
      await postgres.restart();
      const readyAtMs = performance.now();
      await Promise.all(
        nodes.map(async ({ origin }) => {
          probes.push(...(await probeUntilBack(origin, prober)));
          backMs.push(Math.round(performance.now() - readyAtMs));
        }),
      );
    }
    const sent = await load.stop();
    await until(async () => (await readHolds(site)) === 0);

    const books = await site.withDatabase((database) => readBooks(database, sinceMs));
    const { costNanos: _, ...tally } = judge([...sent, ...probes], books, invoiceOf(site.provider));
    console.log(`postgres-restarts: ${JSON.stringify(tally)}; work went on within ${Math.max(...backMs)} ms of the database being ready`);
    expect(Math.max(...backMs)).toBeLessThanOrEqual(BACK_WITHIN_MS);
    expect(tally.finished).toBeGreaterThan(RESTARTS * CALLERS);
    expect(tally.withoutRow).toBe(0);
    await site.verify();
  }, 300_000);

  test('for longer than a hold may wait refuses new work before a provider is called, and charges what was running', async () => {
    const [open, late, unseen] = [await site.makeKey('10'), await site.makeKey('10'), await site.makeKey('10')];
    const origin = nodes[0]?.origin ?? '';
    // Two of the keys are known before the database goes away. A node forgets all keys when it learns of a new one.
    await Bun.sleep(HEARD_WITHIN_MS);
    for (const key of [open, late]) expect(isFinished(await ask(origin, key, makeChat(SHORT)))).toBe(true);
    site.provider.reset();
    obeyMessages(site.provider);
    const running = ask(origin, open, makeChat(LONG));
    await site.provider.untilRequests(1);
    await postgres.kill();
    const refused: Asked[] = [];
    try {
      refused.push(await ask(origin, late, makeChat(SHORT)), await ask(origin, unseen, makeChat(SHORT)));
      // Background work reports the problem too. It runs every five seconds and waits as long as a hold.
      await until(() => nodes[0]?.logLines().some(reportsOutage) === true);
    } finally {
      await postgres.restart();
    }
    for (const answered of refused) expect([answered.status, errorCodeOf(answered)]).toEqual([500, 'ledger_unavailable']);
    expect(site.provider.requests).toHaveLength(1);

    const answer = await running;
    expect(isFinished(answer)).toBe(true);
    await until(async () => (await readHolds(site)) === 0);
    const rows = await site.withDatabase((database) =>
      database
        .selectFrom('usage')
        .selectAll()
        .where(
          'request_id',
          'in',
          [answer, ...refused].map(({ requestId }) => requestId ?? ''),
        )
        .execute(),
    );
    const [{ usage } = { usage: undefined }] = site.provider.requests;
    expect(rows).toMatchObject([{ request_id: answer.requestId, outcome: 'completed', cost: costNanos(usage as Usage) }]);
    await site.verify();
  }, 120_000);

  test('that hangs instead refuses new work just as soon, and releases holds that are written late', async () => {
    const key = await site.makeKey('10');
    const origin = nodes[0]?.origin ?? '';
    // The key stays cached only once the node has learned that it is new.
    await Bun.sleep(HEARD_WITHIN_MS);
    expect(isFinished(await ask(origin, key, makeChat(SHORT)))).toBe(true);
    site.provider.reset();
    obeyMessages(site.provider);
    const pids = [postgres.pid, ...childrenOf(postgres.pid)];
    for (const pid of pids) signalProcess(pid, 'SIGSTOP');
    const startedAtMs = performance.now();
    const refused = await ask(origin, key, makeChat(SHORT)).finally(() => pids.forEach((pid) => signalProcess(pid, 'SIGCONT')));
    expect([refused.status, errorCodeOf(refused)]).toEqual([500, 'ledger_unavailable']);
    expect(performance.now() - startedAtMs).toBeLessThan(REFUSED_WITHIN_MS);
    expect(site.provider.requests).toEqual([]);

    expect(isFinished(await ask(origin, key, makeChat(SHORT)))).toBe(true);
    await until(async () => (await readHolds(site)) === 0);
    const rows = await site.withDatabase((database) =>
      database
        .selectFrom('usage')
        .selectAll()
        .where('request_id', '=', refused.requestId ?? '')
        .execute(),
    );
    expect(rows.map(({ cost, outcome }) => ({ cost, outcome }))).toEqual([{ cost: 0n, outcome: 'failed' }]);
    await site.verify();
  }, 90_000);
});

function reportsOutage(line: JsonObject): boolean {
  return line['msg'] === 'holds of dead processes could not be settled' && line['code'] === 'ECONNREFUSED';
}

/** Sends one request after the other until one is answered. */
async function probeUntilBack(origin: string, key: SiteKey): Promise<readonly Sent[]> {
  const probes: Sent[] = [];
  return until(async () => {
    const body = makeChat(SHORT);
    const asked = await ask(origin, key, body);
    probes.push({ ...asked, key, ...describeBody(body) });
    return isFinished(asked) ? probes : undefined;
  });
}

function readHolds(site: Site): Promise<number> {
  return site.withDatabase(async (database) => (await database.selectFrom('holds').selectAll().execute()).length);
}
