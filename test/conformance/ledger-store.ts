import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import type { LedgerStore, OperationResult } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { NO_TOKENS } from '../../src/tokens.ts';
import { extendOf, holdOf, MODEL, progressOf, releaseOf, settleOf, USAGE, type Owner } from '../ledger/operations.ts';
import { failureOf } from '../simulator/failure.ts';
import { testBudgets } from './ledger-budgets.ts';
import { Books, type LedgerDriver } from './ledger-driver.ts';
import { testGrants } from './ledger-grants.ts';
import { testRecovery } from './ledger-recovery.ts';
import { testSetAside } from './ledger-set-aside.ts';
import { testVerification } from './ledger-verify.ts';

/** What every ledger store must do, whatever its database. */
export function testLedgerStore(driver: LedgerDriver): void {
  describe(`the ledger on ${driver.name}`, () => {
    describe('holds and settlements', () => testHolds(driver));
    describe('a batch', () => testBatches(driver));
    describe('budgets', () => testBudgets(driver));
    describe('credit', () => testGrants(driver));
    describe('operations that cannot be written', () => testSetAside(driver));
    describe('after a crash', () => testRecovery(driver));
    describe('the verification', () => testVerification(driver));
  });
}

const held = (amount: bigint): OperationResult => ({ type: 'held', amount: asNanos(amount) });
const insufficient = (available: bigint): OperationResult => ({ type: 'insufficient_funds', available: asNanos(available) });
const SETTLED: OperationResult = { type: 'settled' };
const RESOLVED_BEFORE: OperationResult = { type: 'resolved_before' };
const QUARTER_HOUR_MS = 900_000;

/** The count columns that every settlement here has, this many times. */
const tokens = (times: bigint) => ({
  input_tokens: BigInt(USAGE.inputTokens) * times,
  cached_input_tokens: BigInt(USAGE.cachedInputTokens) * times,
  cache_write_tokens: BigInt(USAGE.cacheWriteTokens) * times,
  output_tokens: BigInt(USAGE.outputTokens) * times,
  reasoning_tokens: BigInt(USAGE.reasoningTokens) * times,
});

/** The timing columns: this many requests had a first token, out of this many that ended. */
const times = (begun: bigint, over: bigint) => ({ first_token_ms: begun * 12n, first_token_count: begun, duration_ms: over * 34n });

function testHolds(driver: LedgerDriver): void {
  let books: Books;
  let store: LedgerStore;
  let owner: Owner;

  beforeAll(async () => {
    books = await Books.open(driver);
    store = await books.openStore('node_1');
  });
  beforeEach(async () => {
    owner = await books.makeOwner(1000n);
  });
  afterEach(() => books.expectSound());
  afterAll(() => books.close());

  /** Ids are unique in the whole database, and every test has its own account. */
  const id = (name: string): string => `req_${owner.accountId}_${name}`;
  const hold = (name: string, amount: bigint, minimum = amount) => store.apply([holdOf(owner, id(name), { amount, minimum })]);
  const settle = (name: string, cost: bigint) => store.apply([settleOf(owner, id(name), { cost })]);
  const money = () => books.money(owner);

  test('a hold reserves money, and a settlement takes the cost', async () => {
    expect(await hold('a', 600n)).toEqual([held(600n)]);
    expect(await money()).toEqual({ balance: 1000n, held: 600n });
    expect(await settle('a', 250n)).toEqual([SETTLED]);
    expect(await money()).toEqual({ balance: 750n, held: 0n });
  });

  test('a hold beyond the available balance is refused with the available amount', async () => {
    await hold('a', 600n);
    expect(await hold('b', 401n)).toEqual([insufficient(400n)]);
    expect(await hold('b', 400n)).toEqual([held(400n)]);
    expect(await hold('c', 1n)).toEqual([insufficient(0n)]);
    expect(await money()).toEqual({ balance: 1000n, held: 1000n });
  });

  test('a hold with a lower minimum takes what is available', async () => {
    expect(await hold('a', 5000n, 10n)).toEqual([held(1000n)]);
    expect(await hold('b', 5000n, 10n)).toEqual([insufficient(0n)]);
  });

  test('a free request is held whatever the balance', async () => {
    await hold('a', 1000n);
    expect(await hold('b', 0n)).toEqual([held(0n)]);
    await settle('a', 1300n);
    expect(await hold('c', 0n)).toEqual([held(0n)]);
  });

  test('a repeated hold gets its first answer, even if nothing is left for a second', async () => {
    expect(await hold('a', 1000n)).toEqual([held(1000n)]);
    expect(await hold('a', 1000n)).toEqual([held(1000n)]);
    expect(await hold('b', 5000n, 1n)).toEqual([insufficient(0n)]);
    expect(await money()).toEqual({ balance: 1000n, held: 1000n });
  });

  test('settling twice charges once', async () => {
    await hold('a', 600n);
    const operation = settleOf(owner, id('a'), { cost: 100n });
    expect(await store.apply([operation, operation])).toEqual([SETTLED, RESOLVED_BEFORE]);
    expect(await store.apply([operation])).toEqual([RESOLVED_BEFORE]);
    expect(await money()).toEqual({ balance: 900n, held: 0n });
  });

  test('a settlement without a hold charges nothing', async () => {
    expect(await settle('a', 100n)).toEqual([RESOLVED_BEFORE]);
    expect(await money()).toEqual({ balance: 1000n, held: 0n });
    expect(await books.usageOf(id('a'))).toBeUndefined();
  });

  test('a hold repeated after its settlement is released and not charged again', async () => {
    await hold('a', 600n);
    await settle('a', 100n);
    expect(await hold('a', 600n)).toEqual([held(600n)]);
    expect(await settle('a', 200n)).toEqual([RESOLVED_BEFORE]);
    expect(await money()).toEqual({ balance: 900n, held: 0n });
    expect((await books.usageOf(id('a')))?.cost).toBe(100n);
  });

  test('a cost above the hold is charged in full, and then nothing is available', async () => {
    await hold('a', 10n);
    await settle('a', 1200n);
    expect(await money()).toEqual({ balance: -200n, held: 0n });
    expect(await hold('b', 1n)).toEqual([insufficient(-200n)]);
  });

  test('an extension raises a hold while there is money for it', async () => {
    await hold('a', 600n);
    const [more, tooMuch] = [extendOf(owner, id('a'), 900n), extendOf(owner, id('a'), 1001n)];
    expect(await store.apply([more, tooMuch])).toEqual([{ type: 'extended' }, { type: 'refused' }]);
    expect(await money()).toEqual({ balance: 1000n, held: 900n });
    await settle('a', 850n);
    expect(await money()).toEqual({ balance: 150n, held: 0n });
    expect(await store.apply([extendOf(owner, id('a'), 1n)])).toEqual([{ type: 'refused' }]);
  });

  test('a repeated extension, whose answer was lost, holds nothing more', async () => {
    await hold('a', 600n);
    const more = extendOf(owner, id('a'), 700n);
    expect(await store.apply([more, more])).toEqual([{ type: 'extended' }, { type: 'extended' }]);
    expect(await store.apply([more])).toEqual([{ type: 'extended' }]);
    expect(await money()).toEqual({ balance: 1000n, held: 700n });
  });

  test('the latest progress of a hold counts, and progress without a hold is ignored', async () => {
    await hold('a', 600n);
    const recorded = { type: 'recorded' } as const;
    expect(await store.apply([progressOf(owner, id('a'), 50n), progressOf(owner, id('a'), 70n)])).toEqual([recorded, recorded]);
    expect(await store.apply([progressOf(owner, id('b'), 50n)])).toEqual([recorded]);
    const holds = await books.kysely.selectFrom('holds').select(['id', 'progress']).where('account_id', '=', owner.accountId).execute();
    expect(holds).toEqual([{ id: id('a'), progress: 70n }]);
    expect(await money()).toEqual({ balance: 1000n, held: 600n });
  });

  test('a settlement creates one transfer and one usage row', async () => {
    const createdAtMs = 1_900_000_000_000;
    await store.apply([holdOf(owner, id('a'), { amount: 600n, createdAtMs })]);
    await store.apply([settleOf(owner, id('a'), { cost: 100n, createdAtMs, endUser: 'Zoë "7", C:\\' })]);
    const transfers = await books.kysely.selectFrom('transfers').selectAll().where('id', '=', id('a')).execute();
    const wallet = `wallet:${owner.accountId}`;
    const created = BigInt(createdAtMs);
    expect(transfers).toEqual([
      { id: id('a'), debit: wallet, credit: 'revenue', amount: 100n, kind: 'usage', ref: '', created_at: created + 34n },
    ]);
    expect(await books.usageOf(id('a'))).toEqual({
      request_id: id('a'),
      account_id: owner.accountId,
      key_id: owner.keyId,
      model: MODEL,
      provider: 'mock',
      input_tokens: 10n,
      cached_input_tokens: 3n,
      cache_write_tokens: 2n,
      output_tokens: 7n,
      reasoning_tokens: 4n,
      is_estimated: 0n,
      price_version: 0n,
      cost: 100n,
      held: 600n,
      outcome: 'completed',
      first_token_ms: 12n,
      duration_ms: 34n,
      attempts: 1n,
      created_at: created,
      is_streaming: 1n,
      finish_reason: 'stop',
      error_code: null,
      served_model: 'gpt-at-mock',
      end_user: 'Zoë "7", C:\\',
      plan_cost: null,
      promo_cost: null,
    });
  });

  test('a free request has a usage row and no transfer', async () => {
    await hold('a', 600n);
    expect(await store.apply([releaseOf(owner, id('a'))])).toEqual([SETTLED]);
    expect(await money()).toEqual({ balance: 1000n, held: 0n });
    const told = { error_code: 'provider_error', finish_reason: null, is_streaming: 0n };
    expect(await books.usageOf(id('a'))).toMatchObject({ outcome: 'failed', cost: 0n, held: 600n, ...told });
    expect(await books.kysely.selectFrom('transfers').selectAll().where('id', '=', id('a')).execute()).toEqual([]);
  });

  test('failed attempts are recorded in order', async () => {
    const failedAttempts = [
      { provider: 'first', outcome: 'provider_error', durationMs: 3 },
      { provider: 'second', outcome: 'provider_timeout', durationMs: 40 },
    ];
    await hold('a', 600n);
    await store.apply([settleOf(owner, id('a'), { cost: 1n, failedAttempts })]);
    expect((await books.usageOf(id('a')))?.attempts).toBe(3n);
    const rows = books.kysely.selectFrom('attempts').selectAll().where('request_id', '=', id('a')).orderBy('n');
    expect(await rows.execute()).toEqual(
      failedAttempts.map(({ provider, outcome, durationMs }, index) => ({
        request_id: id('a'),
        n: BigInt(index + 1),
        provider,
        outcome,
        duration_ms: BigInt(durationMs),
      })),
    );
  });

  test('roll-ups count each provider and quarter of an hour separately, with errors, times and cost', async () => {
    const quarter = 2_000_000 * QUARTER_HOUR_MS;
    const ended = (name: string, offsetMs: number, facts: Parameters<typeof settleOf>[2]) => [
      holdOf(owner, id(name), { amount: 10n, createdAtMs: quarter + offsetMs }),
      settleOf(owner, id(name), { ...facts, createdAtMs: quarter + offsetMs }),
    ];
    await store.apply([...ended('a', 0, { cost: 5n }), ...ended('b', QUARTER_HOUR_MS - 1, { cost: 6n })]);
    await store.apply([
      ...ended('c', 1, { cost: 0n, usage: NO_TOKENS, outcome: 'failed' }),
      ...ended('d', 2, { cost: 7n, usage: NO_TOKENS }),
      ...ended('e', QUARTER_HOUR_MS, { cost: 8n }),
      ...ended('f', QUARTER_HOUR_MS, { cost: 9n, provider: 'another' }),
    ]);
    const rows = books.kysely.selectFrom('usage_rollups').selectAll().where('account_id', '=', owner.accountId);
    const place = { account_id: owner.accountId, key_id: owner.keyId, model: MODEL, provider: 'mock' };
    const next = { ...place, quarter_hour: BigInt(quarter + QUARTER_HOUR_MS), requests: 1n, errors: 0n, ...tokens(1n), ...times(1n, 1n) };
    expect(await rows.orderBy('quarter_hour').orderBy('cost').execute()).toEqual([
      { ...place, quarter_hour: BigInt(quarter), requests: 4n, errors: 1n, cost: 18n, ...tokens(2n), ...times(3n, 4n) },
      { ...next, cost: 8n },
      { ...next, cost: 9n, provider: 'another' },
    ]);
  });

  test('amounts beyond double precision are kept to the last digit', async () => {
    await books.credit(owner, 9_007_199_254_740_993n);
    expect(await hold('a', 9_007_199_254_740_995n)).toEqual([held(9_007_199_254_740_995n)]);
    await settle('a', 9_007_199_254_740_993n);
    expect(await money()).toEqual({ balance: 1000n, held: 0n });
  });

  test('two processes racing for one cent never spend more', async () => {
    const [first, second] = [new GroupCommitLedger(store), new GroupCommitLedger(await books.openStore('node_2'))];
    const tries = Array.from({ length: 64 }, (_, index) => {
      const { hold: request } = holdOf(owner, id(String(index)), { amount: 30n });
      return (index % 2 === 0 ? first : second).hold(request);
    });
    const results = await Promise.all(tries);
    expect(results.filter((result) => result.type === 'held')).toHaveLength(33);
    expect(await money()).toEqual({ balance: 1000n, held: 990n });
  });

  test('old usage rows are dropped and their money stays', async () => {
    const oldest = `req_0_${owner.accountId}`;
    const failedAttempts = [{ provider: 'first', outcome: 'provider_error', durationMs: 3 }];
    // As old as its id says: other rows of the first quarter of an hour may be missing.
    const createdAtMs = Date.now() - 100 * QUARTER_HOUR_MS;
    await store.apply([
      holdOf(owner, oldest, { amount: 10n, createdAtMs }),
      settleOf(owner, oldest, { cost: 4n, failedAttempts, createdAtMs }),
    ]);
    await hold('a', 10n);
    await settle('a', 5n);
    expect(await store.apply([{ type: 'prune', beforeId: 'req_1' }])).toEqual([{ type: 'done', count: 1 }]);
    expect(await store.apply([{ type: 'prune', beforeId: 'req_1' }])).toEqual([{ type: 'done', count: 0 }]);
    expect([await books.usageOf(oldest), (await books.usageOf(id('a')))?.cost]).toEqual([undefined, 5n]);
    expect(await books.kysely.selectFrom('attempts').selectAll().where('request_id', '=', oldest).execute()).toEqual([]);
    expect(await money()).toEqual({ balance: 991n, held: 0n });
  });
}

function testBatches(driver: LedgerDriver): void {
  let books: Books;
  let store: LedgerStore;
  beforeAll(async () => {
    books = await Books.open(driver);
    store = await books.openStore('node_1');
  });
  afterEach(() => books.expectSound());
  afterAll(() => books.close());

  test('is applied and answered in order', async () => {
    const [rich, poor] = [await books.makeOwner(1000n), await books.makeOwner(5n)];
    const results = await store.apply([
      holdOf(poor, 'req_a', { amount: 6n }),
      holdOf(rich, 'req_b', { amount: 1000n }),
      holdOf(rich, 'req_c', { amount: 1n }),
      settleOf(rich, 'req_b', { cost: 400n }),
      holdOf(rich, 'req_d', { amount: 600n }),
      holdOf(poor, 'req_e', { amount: 5n }),
    ]);
    expect(results).toEqual([insufficient(5n), held(1000n), insufficient(0n), SETTLED, held(600n), held(5n)]);
    expect([await books.money(rich), await books.money(poor)]).toEqual([
      { balance: 600n, held: 600n },
      { balance: 5n, held: 5n },
    ]);
  });

  test('without operations is answered with nothing', async () => {
    expect(await store.apply([])).toEqual([]);
  });

  test('is applied as a whole or not at all, and does not affect the next one', async () => {
    const owner = await books.makeOwner(1000n);
    await store.apply([holdOf(owner, 'req_f', { amount: 100n })]);
    const nobody = { accountId: 'acct_nobody', keyId: 'key_nobody' };
    const batch = [
      settleOf(owner, 'req_f', { cost: 50n }),
      holdOf(owner, 'req_g', { amount: 10n }),
      holdOf(nobody, 'req_h', { amount: 1n }),
    ];
    expect(await failureOf(store.apply(batch))).toBeInstanceOf(Error);
    expect(await books.money(owner)).toEqual({ balance: 1000n, held: 100n });
    expect(await books.usageOf('req_f')).toBeUndefined();
    expect(await store.apply(batch.slice(0, 2))).toEqual([SETTLED, held(10n)]);
    expect(await books.money(owner)).toEqual({ balance: 950n, held: 10n });
  });
}
