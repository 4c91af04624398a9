import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describeModel } from '../../simulator/gate.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { JsonObject, Usage } from '../../simulator/wire.ts';
import { countUsage } from '../../simulator/wire.ts';
import { postgresUrl } from '../../services/postgres.ts';
import { ask, type Asked, errorCodeOf, isFinished } from './ask.ts';
import type { UsageRow } from './judge.ts';
import type { GatewayNode } from './node.ts';
import { BOTH, type Case, OVER, type Payment, REFUSED, STREAMED, WHOLE } from './outcome-cases.ts';
import { openSite, type Site, type SiteKey, type Store } from './site.ts';
import { until } from '../../until.ts';

type Mode = 'whole' | 'streamed';

const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const MESSAGE = 'Say something';
/** What a message takes besides its text, and an answer. */
const FRAME_TOKENS = 4 + 3;

describe.each<Store>(['sqlite', ...(postgresUrl === undefined ? [] : (['postgres'] as const))])('on %s', (store) => {
  let site: Site;
  let node: GatewayNode;

  beforeAll(async () => {
    site = await openSite(siteOptions(store));
    node = await site.startNode();
  }, 120_000);
  afterAll(() => site.stop(), 120_000);

  describe.each<[Mode, typeof BOTH]>([
    ['whole', [...BOTH, ...WHOLE]],
    ['streamed', [...BOTH, ...STREAMED]],
  ])('%s', (mode, rows) => {
    test.each([...rows])(
      '%s',
      async (_, row) => {
        const key = await site.makeKey(row.creditUsd ?? '10');
        expectOutcome(row, { mode, ...(await play(site, node, { row, key, mode })), ...(await readLedger(site, key)) });
      },
      60_000,
    );

    test.each([...REFUSED])('refused before a provider is called: %s', async (_, refusal) => {
      const key = await site.makeKey(refusal.creditUsd ?? '10', refusal.settings);
      site.provider.reset();
      const asked = await ask(node.origin, { ...key, secret: refusal.secret ?? key.secret }, chat(mode, refusal.body));
      expect(asked.status).toBe(refusal.status);
      expect(site.provider.requests).toEqual([]);
      expect(await readLedger(site, key)).toEqual({ rows: [], attempts: [], paidNanos: 0n });
    });

    test('a balance at or below zero refuses every priced model but no free one', async () => {
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

  test('a crash charges the recorded progress of a stream, and nothing for a whole answer', async () => {
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
    });
    await node.kill();
    expect((await Promise.all(answers)).map(isFinished)).toEqual([false, false]);

    if (store === 'postgres') await site.withDatabase((database) => database.updateTable('nodes').set({ heartbeat: 0 }).execute());
    node = await site.startNode();
    const [streamed] = (await readLedger(site, streamer)).rows;
    const [whole] = (await readLedger(site, waiter)).rows;
    expect(streamed).toMatchObject({ outcome: 'recovered', is_estimated: 1n, held: recorded.amount, provider: 'mock' });
    // More may have been recorded between our read and the kill.
    expect(streamed?.cost).toBeGreaterThanOrEqual(recorded.progress);
    expect(streamed?.cost).toBeLessThanOrEqual(recorded.progress * 2n);
    expect(streamed?.cost).toBe(costOfRow(streamed));
    expect(whole).toMatchObject({ outcome: 'recovered', is_estimated: 0n, cost: 0n });
  }, 120_000);

  test('after all of it nothing is held and every rule holds', async () => {
    expect(await site.withDatabase((database) => database.selectFrom('holds').selectAll().execute())).toEqual([]);
    await site.verify();
  }, 120_000);
});

function siteOptions(store: Store): Parameters<typeof openSite>[0] {
  return {
    store,
    timeouts: { first_byte_ms: 5000, answer_ms: 8000, idle_ms: 1500 },
    providers: { spare: { dialect: 'openai', base_url: '${MOCK_URL}', api_key: '${MOCK_KEY}' } },
    models: [
      { ...describeModel('mock/two', 'mock', PRICE), routes: routes('gpt-x', 'gpt-x') },
      { ...describeModel('mock/fallback', 'mock', PRICE), routes: routes('gpt-down', 'gpt-x') },
    ],
  };
}

function routes(first: string, second: string): readonly JsonObject[] {
  return [
    { provider: 'mock', model: first },
    { provider: 'spare', model: second },
  ];
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

/** Reads the ledger for a key that sent one request, once nothing of its account is held. */
async function readLedger(site: Site, key: SiteKey): Promise<LedgerOfKey> {
  return site.withDatabase(async (database) => {
    const paidNanos = await until(async () => {
      const wallet = await database.selectFrom('wallets').selectAll().where('account_id', '=', key.accountId).executeTakeFirstOrThrow();
      return wallet.debits_pending === 0n ? wallet.debits_posted : undefined;
    });
    const rows = await database.selectFrom('usage').selectAll().where('key_id', '=', key.id).execute();
    const ids = rows.map((row) => row.request_id);
    const attempts =
      ids.length === 0 ? [] : await database.selectFrom('attempts').selectAll().where('request_id', 'in', ids).orderBy('n').execute();
    return { rows, attempts: attempts.map(({ provider, outcome }) => `${provider} ${outcome}`), paidNanos };
  });
}

function expectOutcome(row: Case, { mode, asked, reported, rows, attempts, paidNanos }: Played & LedgerOfKey & { mode: Mode }): void {
  const [usage] = rows;
  const got = isFinished(asked) ? 'answer' : asked.leftAtMs === undefined ? errorCodeOf(asked) : 'nothing';
  const counts = expectedCounts(row.pays, reported);
  expect({ got, count: rows.length, outcome: usage?.outcome }).toEqual({ got: row.gets, count: 1, outcome: row.outcome });
  expect(usage).toMatchObject(counts);
  expect(usage).toMatchObject({
    is_streaming: mode === 'streamed' ? 1n : 0n,
    error_code: row.outcome === 'failed' ? row.gets : null,
    finish_reason: row.outcome !== 'completed' ? null : row.body?.['max_tokens'] === undefined ? 'stop' : 'length',
    served_model: usage?.provider === '' ? '' : 'gpt-x',
  });
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
