import { afterAll, beforeAll, expect, test } from 'bun:test';
import { costNanos } from '../../simulator/invoice.ts';
import type { Usage } from '../../simulator/wire.ts';
import { ask, errorCodeOf, isFinished } from './ask.ts';
import { judge, readBooks } from './judge.ts';
import { describeBody, invoiceOf, makeChat, obeyMessages, type Sent } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey } from './site.ts';
import { makeSmallDisk, type SmallDisk } from './small-disk.ts';
import { until } from '../../until.ts';

const CALLERS = 8;
const SHORT = { words: 3, gapMs: 0, isStreaming: false };
/** Ends while the disk is full: after refusals have begun, before its charge times out. */
const LONG = { words: 30, gapMs: 100, isStreaming: true };
const FULL_WITHIN_MS = 60_000;

let disk: SmallDisk;
let site: Site;
let node: GatewayNode;
let keys: readonly SiteKey[];

beforeAll(async () => {
  disk = await makeSmallDisk();
  console.log(`disk-full: ${disk.kind}`);
  site = await openSite({ store: 'sqlite', dataFolder: disk.folder });
  keys = await site.makeKeys('1000', CALLERS + 1);
  node = await site.startNode({ wrapper: disk.wrapper });
  obeyMessages(site.provider);
}, 120_000);
afterAll(async () => {
  await site.stop();
  await disk.remove();
}, 120_000);

test('a full disk refuses new work, loses nothing, and recovers when there is space again', async () => {
  const sinceMs = Date.now();
  const [streamer, ...callers] = keys as [SiteKey, ...SiteKey[]];
  const sent: Sent[] = [];
  const send = async (key: SiteKey, wish = SHORT): Promise<Sent> => {
    const body = makeChat(wish);
    const each = { ...(await ask(node.origin, key, body)), key, ...describeBody(body) };
    sent.push(each);
    return each;
  };
  for (const key of keys) expect(isFinished(await send(key))).toBe(true);

  const running = send(streamer, LONG);
  await site.provider.untilRequests(keys.length + 1);
  await disk.fill(node.pid);
  // The log may still have room for a few more.
  const refused = await until(async () => {
    const answers = await Promise.all(callers.map((key) => send(key)));
    return answers.every((each) => each.status === 500) ? answers : undefined;
  }, FULL_WITHIN_MS);
  expect(refused.map(errorCodeOf)).toEqual(refused.map(() => 'ledger_unavailable'));
  const unheard = refused.filter(({ message }) => !invoiceOf(site.provider).has(message));
  expect(unheard).toHaveLength(refused.length);

  await disk.empty(node.pid);
  const freedAtMs = performance.now();
  await until(async () => isFinished(await send(callers[0] ?? streamer)));
  console.log(`disk-full: work went on ${Math.round(performance.now() - freedAtMs)} ms after there was room, ${refused.length} refused`);
  const answer = await running;
  expect(isFinished(answer)).toBe(true);

  await until(async () => (await countHolds()) === 0);
  const books = await site.withDatabase((database) => readBooks(database, sinceMs));
  judge(sent, books, invoiceOf(site.provider));
  const { usage } = invoiceOf(site.provider).get(answer.message) ?? {};
  expect(books.usage.get(answer.requestId ?? '')?.cost).toBe(costNanos(usage as Usage));
  await site.verify();
}, 120_000);

function countHolds(): Promise<number> {
  return site.withDatabase(async (database) => (await database.selectFrom('holds').select('id').execute()).length);
}
