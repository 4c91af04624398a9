import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Random, seedRandom } from '../../simulator/random.ts';
import type { GatewayNode } from './node.ts';
import { emptyTally, judge, readBooks, type Tally } from './judge.ts';
import { invoiceOf, obeyMessages, startLoad, type Sent } from './load.ts';
import { openSite, type Site, type SiteKey } from './site.ts';

/** `TOLLGATE_KILL_CYCLES=10000 npm test -- test/faults/ledger/kill-cycles.test.ts` is the long run. */
const CYCLES = Number(process.env['TOLLGATE_KILL_CYCLES'] ?? 200);
const SEED = Number(process.env['TOLLGATE_SEED'] ?? Date.now() % 1_000_000_000);
/** While one gateway starts, another one is under load. */
const LANES = 2;
const CALLERS = 8;
const APPETITE = { wordsMax: 40, gapMsMax: 60 };
/** Most lives are short, so that there are many kills. Every eighth is long enough for streams to record progress. */
const LIFE_MS = { usual: 400, long: 1800, every: 8 };
const CYCLE_MS_MAX = 30_000;
const REPORTS = 10;

let lanes: readonly Lane[] = [];

beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => openLane(SEED + index)));
}, 120_000);
afterAll(async () => {
  await Promise.all(lanes.map(({ site }) => site.stop()));
}, 120_000);

test(
  `${CYCLES} kills of the gateway under load leave a ledger without drift`,
  async () => {
    console.log(`kill-cycles: ${CYCLES} cycles, TOLLGATE_SEED=${SEED}`);
    const progress = reportProgress();
    const tallies = await Promise.all(
      lanes.map((lane, index) => runLane(lane, { cycles: Math.ceil((CYCLES - index) / LANES), onCycle: progress })),
    );
    const total = tallies.reduce(add, emptyTally());
    console.log(`kill-cycles: ${describe(total)}`);
    expect(total.finished).toBeGreaterThan(CYCLES);
    expect(total.recovered).toBeGreaterThan(0);
    // Without this, streams would be free whenever a gateway dies.
    if (CYCLES >= LIFE_MS.every * LANES) expect(total.recoveredCharged).toBeGreaterThan(0);
  },
  CYCLES * CYCLE_MS_MAX,
);

/** A data folder used by one gateway after the other. */
interface Lane {
  readonly site: Site;
  readonly random: Random;
  readonly keys: readonly SiteKey[];
}

async function openLane(seed: number): Promise<Lane> {
  const site = await openSite({ store: 'sqlite' });
  return { site, random: seedRandom(seed), keys: await site.makeKeys('100000', CALLERS) };
}

async function runLane(lane: Lane, { cycles, onCycle }: { cycles: number; onCycle: () => void }): Promise<Tally> {
  const { site } = lane;
  let total = emptyTally();
  let node = await site.startNode();
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const sinceMs = Date.now();
    const sent = await loadAndKill(lane, node, cycle);
    node = await site.startNode();
    total = add(total, await judgeCycle(site, sent, sinceMs));
    onCycle();
  }
  await node.kill();
  await site.verify();
  const wallets = await site.withDatabase((database) => database.selectFrom('wallets').selectAll().execute());
  expect(wallets.map((wallet) => [wallet.debits_pending, wallet.debits_posted])).toEqual([[0n, total.costNanos]]);
  return total;
}

async function loadAndKill({ site, random, keys }: Lane, node: GatewayNode, cycle: number): Promise<readonly Sent[]> {
  site.provider.reset();
  obeyMessages(site.provider);
  const load = startLoad([node.origin], keys, random, APPETITE);
  await Bun.sleep(cycle % LIFE_MS.every === 0 ? LIFE_MS.long : random.below(LIFE_MS.usual));
  await node.kill();
  return load.stop();
}

/** The new gateway has taken no work yet, so any hold that is still open would stay open for ever. */
async function judgeCycle(site: Site, sent: readonly Sent[], sinceMs: number): Promise<Tally> {
  const { holds, books } = await site.withDatabase(async (database) => ({
    holds: await database.selectFrom('holds').selectAll().execute(),
    books: await readBooks(database, sinceMs),
  }));
  expect(holds).toEqual([]);
  return judge(sent, books, invoiceOf(site.provider));
}

function add(first: Tally, second: Tally): Tally {
  const names = Object.keys(first) as (keyof Tally)[];
  return Object.fromEntries(names.map((name) => [name, (first[name] as bigint) + (second[name] as bigint)])) as unknown as Tally;
}

function describe({ costNanos, ...counts }: Tally): string {
  return `${JSON.stringify(counts)}, charged $${Number(costNanos) / 1e9}`;
}

function reportProgress(): () => void {
  const startedAtMs = performance.now();
  let done = 0;
  return () => {
    done += 1;
    if (done % Math.max(1, Math.floor(CYCLES / REPORTS)) !== 0) return;
    console.log(`kill-cycles: ${done} of ${CYCLES} after ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
  };
}
