import { afterAll, beforeAll, expect, test } from 'bun:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { Kysely } from 'kysely';
import type { Tables } from '../../../src/database/tables.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { ReceivedRequest } from '../../simulator/openai.ts';
import { type Random, seedRandom } from '../../simulator/random.ts';
import { countUsage, type Usage } from '../../simulator/wire.ts';
import { ask, isFinished, type Leave } from './ask.ts';
import type { UsageRow } from './judge.ts';
import { charactersSent, describeBody, findCall, makeChat, obeyMessages, type Sent, WORD } from './load.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey } from './site.ts';
import { until } from '../../until.ts';

const DISCONNECTS = 2000;
const SEED = Number(process.env['TOLLGATE_SEED'] ?? Date.now() % 1_000_000_000);
const CALLERS = 16;
const WORDS_MAX = 40;
const GAP_MS_MAX = 10;
/** About the length of the longest answers. In a stream, each word is an event of some 250 bytes. */
const BYTES_MAX = { streamed: 10_000, whole: 900 };
const STAY_MS_MAX = 80;
/** Longer than the gate waits for a token count before it falls back to an estimate. */
const SETTLED_WITHIN_MS = 20_000;
/** A caller that leaves at once may do so before its request was read. */
const UNHEARD_WITHIN_MS = 2000;
/** What a message and an answer take besides their text, by the gate's own count. */
const FRAME_TOKENS = 4 + 3;
const UPSTREAM_GONE_MS = 100;
const UPSTREAM_GONE_MS_MAX = 1000;
const TICK_MS = 10;

let site: Site;
let node: GatewayNode;
let keys: readonly SiteKey[];

beforeAll(async () => {
  site = await openSite({ store: 'sqlite' });
  keys = await site.makeKeys('1000', CALLERS);
  node = await site.startNode();
  obeyMessages(site.provider);
}, 120_000);
afterAll(() => site.stop(), 120_000);

test(`${DISCONNECTS} callers leave at random bytes: each has one usage row, and the provider call is aborted at once`, async () => {
  console.log(`disconnects: TOLLGATE_SEED=${SEED}`);
  const random = seedRandom(SEED);
  const tally = { left: 0, ended: 0, unheard: 0, free: 0, estimated: 0, exact: 0 };
  const goneMs: number[] = [];
  const noise = startNoiseMeter();
  const run = async (database: Kysely<Tables>, key: SiteKey): Promise<void> => {
    const knownIds: string[] = [];
    while (tally.left < DISCONNECTS) {
      const sent = await leaveOnce(key, random);
      const row = await findRow(database, sent, knownIds);
      const call = findCall(site.provider, sent.message);
      if (row === undefined) tally.unheard += 1;
      if (row === undefined) continue;
      knownIds.push(row.request_id);
      tally[sent.leftAtMs === undefined ? 'ended' : 'left'] += 1;
      tally[judge(sent, row, call)] += 1;
      if (sent.leftAtMs !== undefined && call !== undefined && call.finishedAt === undefined)
        goneMs.push(await untilGone(sent.leftAtMs, call));
    }
  };
  await site.withDatabase(async (database) => {
    await Promise.all(keys.map((key) => run(database, key)));
    const { rows } = await database
      .selectFrom('usage')
      .select(({ fn }) => fn.countAll<bigint>().as('rows'))
      .executeTakeFirstOrThrow();
    expect(rows).toBe(BigInt(tally.left + tally.ended));
    expect(await database.selectFrom('holds').selectAll().execute()).toEqual([]);
  });
  const lateness = spread(noise.stop());
  const { max, p99, median } = spread(goneMs);
  console.log(
    `disconnects: ${JSON.stringify(tally)}; the provider was left within ${median} ms, p99 ${p99} ms, max ${max} ms (this machine is late by p99 ${lateness.p99} ms)`,
  );
  // Three processes take part, from the caller through the gateway to the provider, each as late as this one.
  expect(median).toBeLessThanOrEqual(UPSTREAM_GONE_MS);
  expect(p99).toBeLessThanOrEqual(UPSTREAM_GONE_MS + 3 * lateness.p99);
  expect(max).toBeLessThanOrEqual(UPSTREAM_GONE_MS_MAX + 3 * lateness.max);
  for (const name of ['free', 'estimated', 'exact'] as const) expect(tally[name]).toBeGreaterThan(0);
  await until(() => site.provider.openReplies === 0);
  await site.verify();
}, 300_000);

async function leaveOnce(key: SiteKey, random: Random): Promise<Sent> {
  const isStreaming = random.below(3) > 0;
  const body = makeChat({ words: 1 + random.below(WORDS_MAX), gapMs: random.below(GAP_MS_MAX + 1), isStreaming });
  const bytesMax = isStreaming ? BYTES_MAX.streamed : BYTES_MAX.whole;
  const leave: Leave = random.below(4) === 0 ? { afterMs: random.below(STAY_MS_MAX) } : { afterBytes: 1 + random.below(bytesMax) };
  return { ...(await ask(node.origin, key, body, leave)), key, ...describeBody(body) };
}

/** Finds the row of a request: by its id, or, if the caller left before it knew that, as the only new row of its key. */
async function findRow(database: Kysely<Tables>, sent: Sent, knownIds: readonly string[]): Promise<UsageRow | undefined> {
  // Not by larger ids: on a machine whose clock is set back, later requests get smaller ones.
  const rows = database.selectFrom('usage').selectAll().where('key_id', '=', sent.key.id).where('request_id', 'not in', knownIds);
  const deadline = performance.now() + UNHEARD_WITHIN_MS;
  return until(async () => {
    const [row, ...more] = await rows.execute();
    expect(more).toEqual([]);
    if (row !== undefined && sent.requestId !== undefined) expect(row.request_id).toBe(sent.requestId);
    if (row !== undefined) return { row };
    const isUnheard = sent.status === undefined && findCall(site.provider, sent.message) === undefined;
    return isUnheard && performance.now() > deadline ? { row } : undefined;
  }, SETTLED_WITHIN_MS)
    .then(({ row }) => row)
    .catch((cause: unknown) => {
      throw new Error(`There is no row of ${JSON.stringify({ sent, call: findCall(site.provider, sent.message) })}`, { cause });
    });
}

/** Compares one row with what the caller saw and the provider sent; returns how it was charged. */
function judge(sent: Sent, row: UsageRow, call: ReceivedRequest | undefined): 'free' | 'estimated' | 'exact' {
  const facts = JSON.stringify({ sent, row, call }, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  const claim = (isTrue: boolean, what: string): void => {
    if (!isTrue) throw new Error(`${what}: ${facts}`);
  };
  const wordsSeen = sent.isStreaming ? sent.text.split(`"content":"${WORD}"`).length - 1 : 0;
  claim(row.outcome === 'completed' || row.outcome === 'client_gone', 'an unknown outcome');
  claim(
    row.cost === costNanos(countUsage({ prompt: Number(row.input_tokens), cached: 0, completion: Number(row.output_tokens) })),
    'a wrong cost',
  );
  if (isFinished(sent)) claim(row.outcome === 'completed', 'an answer that was seen to end was not completed');
  if (row.cost === 0n) {
    claim(row.outcome === 'client_gone' && row.is_estimated === 0n, 'only a caller that left pays nothing');
    claim(wordsSeen === 0, 'output was delivered for nothing');
    return 'free';
  }
  if (row.is_estimated === 0n) {
    claim(call !== undefined && row.cost === costNanos(call.usage as Usage), 'not charged as reported');
    return 'exact';
  }
  claim(sent.isStreaming && row.outcome === 'client_gone', 'only an abandoned stream is estimated');
  claim(row.input_tokens === BigInt(FRAME_TOKENS + countTokens(sent.message)), 'the input count is wrong');
  claim(row.output_tokens >= BigInt(wordsSeen), 'less output charged than the caller saw');
  claim(
    call !== undefined && row.output_tokens <= BigInt(charactersSent(call) / WORD.length),
    'more output charged than the provider sent',
  );
  return 'estimated';
}

async function untilGone(leftAtMs: number, call: ReceivedRequest): Promise<number> {
  return Math.round((await until(() => call.abortedAt ?? call.finishedAt, SETTLED_WITHIN_MS)) - leftAtMs);
}

/** Measures how late this process itself is, because both ends of every measurement are recorded here. */
function startNoiseMeter(): { stop(): readonly number[] } {
  const lateMs: number[] = [];
  let dueAtMs = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lateMs.push(Math.max(0, Math.round(nowMs - dueAtMs)));
    dueAtMs = nowMs + TICK_MS;
  }, TICK_MS);
  return {
    stop() {
      clearInterval(timer);
      return lateMs;
    },
  };
}

function spread(values: readonly number[]): { readonly max: number; readonly p99: number; readonly median: number } {
  const sorted = values.toSorted((first, second) => first - second);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { max: sorted.at(-1) ?? 0, p99: at(0.99), median: at(0.5) };
}
