import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { KeySettings } from '../../../src/accounts/keys.ts';
import { ANSWER_TEXT, type Behaviour } from '../../simulator/behaviours.ts';
import { describeModel } from '../../simulator/gate.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { JsonObject, Usage } from '../../simulator/wire.ts';
import { countUsage } from '../../simulator/wire.ts';
import { postgresUrl } from '../../services/postgres.ts';
import { ask, type Asked, errorCodeOf, isFinished, type Leave } from './ask.ts';
import type { UsageRow } from './judge.ts';
import type { GatewayNode } from './node.ts';
import { openSite, type Site, type SiteKey, type Store } from './site.ts';
import { until } from './until.ts';

/** One row of the table of outcomes: what happens, and what the account pays. */
interface Case {
  readonly behaviour: Behaviour;
  readonly body?: JsonObject;
  readonly leave?: Leave;
  readonly creditUsd?: string;
  /** What the caller gets: `answer`, or the code of an error, or `nothing` because it left. */
  readonly gets: string;
  readonly outcome: 'completed' | 'failed' | 'client_gone';
  readonly pays: Payment;
  /** The tries that failed before, and who answered in the end. */
  readonly failedAttempts?: readonly string[];
  readonly provider?: string;
}

type Payment =
  | 'nothing'
  /** What the provider reported. */
  | 'reported'
  /** Our own count of the message and of this output, at most so many tokens of it. */
  | { readonly counted: string; readonly tokensMax?: number };

type Mode = 'whole' | 'streamed';

const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const MESSAGE = 'Say something';
/** What a message takes beside its text, and an answer. */
const FRAME_TOKENS = 4 + 3;
const SETTLED_WITHIN_MS = 5000;
const CRASH_WITHIN_MS = 15_000;
/** The first words of the answer, as far as a stream comes that hangs after its fourth chunk: the first chunk has no text. */
const FIRST_WORDS = ANSWER_TEXT.split(' ').slice(0, 3).join(' ');
const OVER = countUsage({ prompt: 5000, cached: 0, completion: 5 });
const ROLE_CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })}\n\n`;

const completed = { gets: 'answer', outcome: 'completed' } as const;
const estimated = { ...completed, pays: { counted: ANSWER_TEXT } } as const;
const broken = { gets: 'provider_error', outcome: 'failed', pays: 'nothing' } as const;
const unavailable = { ...broken, gets: 'provider_unavailable' } as const;
const gone = { gets: 'nothing', outcome: 'client_gone' } as const;

/** Rows that are the same whether the answer is streamed or not. */
const BOTH: readonly (readonly [name: string, row: Case])[] = [
  ['completed, usage reported', { ...completed, behaviour: { type: 'answer', cachedTokens: 3 }, pays: 'reported' }],
  ['completed, usage of zero', { ...completed, behaviour: { type: 'usage', value: 'zero' }, pays: 'nothing' }],
  ['completed, usage missing', { ...estimated, behaviour: { type: 'usage', value: 'missing' } }],
  ['completed, usage null', { ...estimated, behaviour: { type: 'answer', usage: null } }],
  ['completed, usage negative', { ...estimated, behaviour: { type: 'usage', value: 'negative' } }],
  ['completed, usage fractional', { ...estimated, behaviour: { type: 'answer', usage: { prompt_tokens: 12.5, completion_tokens: 3.5 } } }],
  ['completed, usage of 1e300', { ...estimated, behaviour: { type: 'usage', value: 'enormous' } }],
  ['completed, usage a text', { ...estimated, behaviour: { type: 'usage', value: 'text' } }],
  [
    'completed, more output reported than the limit',
    {
      ...completed,
      behaviour: { type: 'answer', usage: countUsage({ prompt: 9, cached: 0, completion: 5000 }) },
      body: { max_tokens: 4 },
      pays: { counted: ANSWER_TEXT, tokensMax: 4 },
    },
  ],
  [
    'completed, usage above the hold',
    { ...completed, behaviour: { type: 'answer', usage: OVER }, body: { max_tokens: 5 }, creditUsd: '0.001', pays: 'reported' },
  ],
  [
    'every attempt failed',
    {
      ...broken,
      behaviour: { type: 'status', status: 503, body: 'busy' },
      body: { model: 'mock/two' },
      failedAttempts: ['mock provider_error', 'spare provider_error'],
    },
  ],
  [
    'fallback succeeded',
    {
      ...completed,
      behaviour: { type: 'answer' },
      body: { model: 'mock/fallback' },
      pays: 'reported',
      failedAttempts: ['mock provider_error'],
      provider: 'spare',
    },
  ],
  ['an error in the place of an answer', { ...broken, behaviour: { type: 'error_in_200' }, failedAttempts: ['mock provider_error'] }],
  [
    'the client leaves before the provider says anything',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'before_headers' } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
  [
    'the client leaves before the first token',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'after_headers' } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
];

const WHOLE: readonly (readonly [name: string, row: Case])[] = [
  [
    'no choices at all',
    {
      ...broken,
      behaviour: {
        type: 'status',
        status: 200,
        body: { id: 'c', choices: [], usage: countUsage({ prompt: 9, cached: 0, completion: 0 }) },
      },
    },
  ],
  [
    'no output and no finish',
    {
      ...broken,
      behaviour: {
        type: 'status',
        status: 200,
        body: {
          id: 'c',
          choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }],
          usage: countUsage({ prompt: 9, cached: 0, completion: 0 }),
        },
      },
    },
  ],
  ['the provider breaks off in the middle', { ...unavailable, behaviour: { type: 'cut', moment: { at: 'after_chunks', chunks: 1 } } }],
  [
    'the client leaves in the middle of the body',
    { ...gone, behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 1 } }, leave: { afterMs: 300 }, pays: 'nothing' },
  ],
];

const STREAMED: readonly (readonly [name: string, row: Case])[] = [
  ['no output and no finish', { ...broken, behaviour: { type: 'status', status: 200, body: ROLE_CHUNK, headers: EVENT_STREAM } }],
  [
    'no output and no finish, but [DONE]',
    { ...broken, behaviour: { type: 'status', status: 200, body: `${ROLE_CHUNK}data: [DONE]\n\n`, headers: EVENT_STREAM } },
  ],
  ['the provider sends an error in mid-stream', { ...broken, behaviour: { type: 'error_event', chunks: 4 } }],
  ['the provider breaks off in mid-stream', { ...unavailable, behaviour: { type: 'cut', moment: { at: 'after_chunks', chunks: 4 } } }],
  [
    'the provider stalls in mid-stream',
    { ...broken, gets: 'provider_timeout', behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } } },
  ],
  ['the provider sends garbage in mid-stream', { ...broken, behaviour: { type: 'garbage', content: 'invalid_json', chunks: 4 } }],
  [
    'the client leaves in mid-stream',
    {
      ...gone,
      behaviour: { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } },
      leave: { afterText: '" is"' },
      pays: { counted: FIRST_WORDS },
    },
  ],
];

/** Rows of requests that no provider hears of. */
const REFUSED: readonly (readonly [name: string, refusal: Refusal])[] = [
  ['400', { status: 400, body: { max_tokens: -1 } }],
  ['401', { status: 401, secret: 'sk-tg-unknown' }],
  ['403 for the model', { status: 403, settings: { models: ['mock/free'] } }],
  ['403 for the balance', { status: 403, creditUsd: '0.0001', body: { max_tokens: 100 } }],
  ['404', { status: 404, body: { model: 'mock/none' } }],
  ['429', { status: 429, settings: { tokensPerMinute: 1 } }],
];

interface Refusal {
  readonly status: number;
  readonly body?: JsonObject;
  readonly secret?: string;
  readonly creditUsd?: string;
  readonly settings?: Partial<KeySettings>;
}

describe.each<Store>(['sqlite', ...(postgresUrl === undefined ? [] : (['postgres'] as const))])('on %s', (store) => {
  let site: Site;
  let node: GatewayNode;

  beforeAll(async () => {
    site = await openSite(siteOptions(store));
    node = await site.startNode();
  }, 60_000);
  afterAll(() => site.stop(), 60_000);

  describe.each<[Mode, typeof BOTH]>([
    ['whole', [...BOTH, ...WHOLE]],
    ['streamed', [...BOTH, ...STREAMED]],
  ])('%s', (mode, rows) => {
    test.each([...rows])(
      '%s',
      async (_, row) => {
        const key = await site.makeKey(row.creditUsd ?? '10');
        expectOutcome(row, { ...(await play(site, node, { row, key, mode })), ...(await readLedger(site, key)) });
      },
      60_000,
    );

    test.each([...REFUSED])('refused before dispatch: %s', async (_, refusal) => {
      const key = await site.makeKey(refusal.creditUsd ?? '10', refusal.settings);
      site.provider.reset();
      const asked = await ask(node.origin, { ...key, secret: refusal.secret ?? key.secret }, chat(mode, refusal.body));
      expect(asked.status).toBe(refusal.status);
      expect(site.provider.requests).toEqual([]);
      expect(await readLedger(site, key)).toEqual({ rows: [], attempts: [], paidNanos: 0n });
    });

    test('a balance at or below zero refuses every priced model and no free one', async () => {
      const none = await site.makeKey('0');
      const debtor = await site.makeKey('0.001');
      site.provider.reset();
      site.provider.always({ type: 'answer', usage: OVER });
      expect(isFinished(await ask(node.origin, debtor, chat(mode, { max_tokens: 5 })))).toBe(true);
      for (const key of [none, debtor]) {
        for (const model of ['mock/gpt', 'mock/two']) {
          const asked = await ask(node.origin, key, chat(mode, { model, max_tokens: 1 }));
          expect([asked.status, errorCodeOf(asked)]).toEqual([403, 'insufficient_quota']);
        }
        expect(isFinished(await ask(node.origin, key, chat(mode, { model: 'mock/free' })))).toBe(true);
      }
    });
  });

  test('node crash: the recorded progress of a stream, nothing for a whole answer', async () => {
    const [streamer, waiter] = [await site.makeKey('10'), await site.makeKey('10')];
    site.provider.reset();
    site.provider.decide(({ stream }) =>
      stream === true ? { type: 'pace', gapMs: 400 } : { type: 'hang', moment: { at: 'after_chunks', chunks: 1 } },
    );
    const answers = [ask(node.origin, streamer, chat('streamed')), ask(node.origin, waiter, chat('whole'))];
    const recorded = await until(async () => {
      const holds = await site.withDatabase((database) => database.selectFrom('holds').selectAll().execute());
      const hold = holds.find(({ account_id: id, progress }) => id === streamer.accountId && progress > 0n);
      return holds.length === 2 ? hold : undefined;
    }, CRASH_WITHIN_MS);
    await node.kill();
    expect((await Promise.all(answers)).map(isFinished)).toEqual([false, false]);

    if (store === 'postgres') await site.withDatabase((database) => database.updateTable('nodes').set({ heartbeat: 0 }).execute());
    node = await site.startNode();
    const [streamed] = (await readLedger(site, streamer)).rows;
    const [whole] = (await readLedger(site, waiter)).rows;
    expect(streamed).toMatchObject({ outcome: 'recovered', is_estimated: 1n, held: recorded.amount, provider: 'mock' });
    // More may have been recorded between our look and the kill.
    expect(streamed?.cost).toBeGreaterThanOrEqual(recorded.progress);
    expect(streamed?.cost).toBeLessThanOrEqual(recorded.progress * 2n);
    expect(streamed?.cost).toBe(costOfRow(streamed));
    expect(whole).toMatchObject({ outcome: 'recovered', is_estimated: 0n, cost: 0n });
  }, 60_000);

  test('after all of it nothing is held and every rule holds', async () => {
    expect(await site.withDatabase((database) => database.selectFrom('holds').selectAll().execute())).toEqual([]);
    await site.verify();
  }, 60_000);
});

function siteOptions(store: Store): Parameters<typeof openSite>[0] {
  const routes = (first: string, second: string): JsonObject => ({
    routes: [
      { provider: 'mock', model: first },
      { provider: 'spare', model: second },
    ],
  });
  return {
    store,
    timeouts: { first_byte_ms: 5000, answer_ms: 8000, idle_ms: 1500 },
    providers: { spare: { dialect: 'openai', base_url: '${MOCK_URL}', api_key: '${MOCK_KEY}' } },
    models: [
      { ...describeModel('mock/two', 'mock', PRICE), ...routes('gpt-x', 'gpt-x') },
      { ...describeModel('mock/fallback', 'mock', PRICE), ...routes('gpt-down', 'gpt-x') },
    ],
  };
}

function chat(mode: Mode, body: JsonObject = {}): JsonObject {
  return { model: 'mock/gpt', messages: [{ role: 'user', content: MESSAGE }], ...(mode === 'streamed' && { stream: true }), ...body };
}

interface Played {
  readonly asked: Asked;
  readonly reported: unknown;
}

async function play(site: Site, node: GatewayNode, { row, key, mode }: { row: Case; key: SiteKey; mode: Mode }): Promise<Played> {
  site.provider.reset();
  site.provider.forModel('gpt-down', { type: 'status', status: 503, body: 'down' });
  site.provider.always(row.behaviour);
  const asked = await ask(node.origin, key, chat(mode, row.body), row.leave);
  return { asked, reported: site.provider.requests.at(-1)?.usage };
}

interface LedgerOfKey {
  readonly rows: readonly UsageRow[];
  readonly attempts: readonly string[];
  readonly paidNanos: bigint;
}

/** What the ledger has of a key that sent one request, as soon as nothing of its account is held. */
async function readLedger(site: Site, key: SiteKey): Promise<LedgerOfKey> {
  return site.withDatabase(async (database) => {
    const paidNanos = await until(async () => {
      const wallet = await database.selectFrom('wallets').selectAll().where('account_id', '=', key.accountId).executeTakeFirstOrThrow();
      return wallet.debits_pending === 0n ? wallet.debits_posted : undefined;
    }, SETTLED_WITHIN_MS);
    const rows = await database.selectFrom('usage').selectAll().where('key_id', '=', key.id).execute();
    const ids = rows.map((row) => row.request_id);
    const attempts =
      ids.length === 0 ? [] : await database.selectFrom('attempts').selectAll().where('request_id', 'in', ids).orderBy('n').execute();
    return { rows, attempts: attempts.map(({ provider, outcome }) => `${provider} ${outcome}`), paidNanos };
  });
}

function expectOutcome(row: Case, { asked, reported, rows, attempts, paidNanos }: Played & LedgerOfKey): void {
  const [usage] = rows;
  const got = isFinished(asked) ? 'answer' : asked.leftAtMs === undefined ? errorCodeOf(asked) : 'nothing';
  const counts = expectedCounts(row.pays, reported);
  expect({ got, count: rows.length, outcome: usage?.outcome }).toEqual({ got: row.gets, count: 1, outcome: row.outcome });
  expect(usage).toMatchObject(counts);
  expect(usage?.cost).toBe(costOfRow(usage));
  expect(paidNanos).toBe(usage?.cost ?? -1n);
  if (row.pays !== 'nothing') expect(paidNanos).toBeGreaterThan(0n);
  if (row.failedAttempts !== undefined) expect(attempts).toEqual([...row.failedAttempts]);
  if (row.outcome === 'completed') expect(usage).toMatchObject({ provider: row.provider ?? 'mock', attempts: BigInt(1 + attempts.length) });
  if (asked.requestId !== undefined) expect(usage?.request_id).toBe(asked.requestId);
}

function expectedCounts(pays: Payment, reported: unknown): Partial<UsageRow> {
  if (pays === 'nothing') return { cost: 0n, is_estimated: 0n, input_tokens: 0n, output_tokens: 0n };
  if (pays === 'reported') {
    const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = reported as Usage;
    return {
      is_estimated: 0n,
      input_tokens: BigInt(prompt - details.cached_tokens),
      cached_input_tokens: BigInt(details.cached_tokens),
      output_tokens: BigInt(completion),
    };
  }
  return {
    is_estimated: 1n,
    input_tokens: BigInt(FRAME_TOKENS + countTokens(MESSAGE)),
    output_tokens: BigInt(Math.min(countTokens(pays.counted), pays.tokensMax ?? Number.POSITIVE_INFINITY)),
  };
}

function costOfRow(row: UsageRow | undefined): bigint {
  if (row === undefined) throw new Error('there is no usage row');
  const cached = Number(row.cached_input_tokens);
  return costNanos(countUsage({ prompt: Number(row.input_tokens) + cached, cached, completion: Number(row.output_tokens) }));
}
