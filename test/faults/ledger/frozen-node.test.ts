import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { postgresUrl } from '../../services/postgres.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { Usage } from '../../simulator/wire.ts';
import { ask, isFinished } from './ask.ts';
import { makeChat, obeyMessages } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey } from './site.ts';
import { until } from '../../until.ts';

const STREAMS = 8;
/** Streams of about four seconds: long enough to have recorded progress when their gateway freezes, but not near their end. */
const STREAM = { words: 40, gapMs: 100, isStreaming: true };
/** Longer than both gateways take for two rounds of ledger housekeeping. */
const LONG = { words: 42, gapMs: 250, isStreaming: true };
const AGE_MS = 60_000;
const ARRIVED_MS = 200;

describe.skipIf(postgresUrl === undefined)('a gateway that freezes with open streams', () => {
  let site: Site;
  let frozen: GatewayNode;
  let other: GatewayNode;
  let frozenId: string;

  beforeAll(async () => {
    site = await openSite({ store: 'postgres' });
    [frozen, other] = await Promise.all([site.startNode(), site.startNode()]);
  }, 120_000);
  afterAll(() => site.stop(), 120_000);

  test('is presumed dead by the other, wakes up, finishes its answers and charges nothing twice', async () => {
    const key = await site.makeKey('10');
    obeyMessages(site.provider);
    const answers = Array.from({ length: STREAMS }, () => ask(frozen.origin, key, makeChat(STREAM)));
    await until(async () => {
      const recorded = (await readHolds()).filter(({ progress }) => progress > 0n);
      return recorded.length === STREAMS;
    });
    await frozen.freeze();
    // What it sent to the database before still arrives.
    await Bun.sleep(ARRIVED_MS);
    const holds = await readHolds();
    expect(holds).toHaveLength(STREAMS);
    frozenId = holds[0]?.node_id ?? '';
    await ageHeartbeat(frozenId);
    await until(async () => (await readHolds()).length === 0);
    const recovered = await readUsage();

    frozen.thaw();
    expect((await Promise.all(answers)).map(isFinished)).toEqual(Array.from({ length: STREAMS }, () => true));
    expect(await readUsage()).toEqual(recovered);
    const charged = recovered.map(({ request_id: id, cost, outcome, held }) => ({ id, cost, outcome, held }));
    expect(charged).toEqual(holds.map(({ id, progress, amount }) => ({ id, cost: progress, outcome: 'recovered', held: amount })));
    const warned = () => frozen.logLines().filter(({ msg }) => msg === 'the hold was resolved before the request ended');
    // The log is read from a pipe, so its lines may come after the answers.
    await until(() => warned().length >= STREAMS);
    expect(
      warned()
        .map((line) => String(line['request_id']))
        .toSorted(),
    ).toEqual(holds.map(({ id }) => id));
    await site.verify();
  }, 120_000);

  test('counts as alive again with the first work it takes, and keeps that work', async () => {
    const key = await site.makeKey('10');
    site.provider.reset();
    obeyMessages(site.provider);
    await ageHeartbeat(frozenId);
    const asked = await Promise.all([frozen, other].map(({ origin }) => ask(origin, key, makeChat({ ...LONG, words: 24 }))));
    expect(asked.map(isFinished)).toEqual([true, true]);
    await expectCompleted(key);
  }, 120_000);

  test('is not confused with a gateway that lost the database together with all others', async () => {
    const key = await site.makeKey('10');
    site.provider.reset();
    obeyMessages(site.provider);
    const answers = [frozen, other].flatMap(({ origin }) => [ask(origin, key, makeChat(LONG)), ask(origin, key, makeChat(LONG))]);
    await until(async () => (await readHolds()).length === answers.length);
    await ageHeartbeat('%');
    expect((await Promise.all(answers)).map(isFinished)).toEqual(answers.map(() => true));
    await expectCompleted(key);
  }, 120_000);

  /** Expects that every request of the key was charged as the provider reported it. */
  async function expectCompleted(key: SiteKey): Promise<void> {
    const rows = (await readUsage()).filter((row) => row.key_id === key.id);
    const invoice = site.provider.requests.map(({ usage }) => costNanos(usage as Usage));
    expect(rows.map(({ cost, outcome }) => ({ cost, outcome }))).toEqual(invoice.map((cost) => ({ cost, outcome: 'completed' })));
    expect(await readHolds()).toEqual([]);
    await site.verify();
  }

  /** Has the same effect as waiting for half a minute. */
  function ageHeartbeat(nodeId: string): Promise<unknown> {
    return site.withDatabase((database) =>
      sql`UPDATE nodes SET heartbeat = heartbeat - ${AGE_MS} WHERE node_id LIKE ${nodeId}`.execute(database),
    );
  }

  function readHolds() {
    return site.withDatabase((database) => database.selectFrom('holds').selectAll().orderBy('id').execute());
  }

  function readUsage() {
    return site.withDatabase((database) => database.selectFrom('usage').selectAll().orderBy('request_id').execute());
  }
});
