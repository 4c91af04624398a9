import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Accounts } from '../../src/accounts/accounts.ts';
import { postCredit, postDebit } from '../../src/ledger/credit.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { readBalanceAfter, readStatement, type StatementCursor, type StatementLine } from '../../src/ledger/statement.ts';
import { HOURS } from '../../src/usage/grid.ts';
import { advanceHistory } from '../../src/usage/history.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';

const KINDS = ['usage', 'manual', 'paid', 'refund'];
const START_MS = 1_790_000_000_000;
const LINES = 300;
/** Four transfers at a time, three times an hour. */
const STEP_MS = 20 * 60_000;
const END_MS = START_MS + (LINES / 4) * STEP_MS;

describeStores((makeStore) => {
  let store: Store;
  let database: OpenDatabase;
  let accountId: string;
  /** Newest first, with the balances from adding them up. */
  let all: readonly StatementLine[];

  beforeAll(async () => {
    store = await makeStore();
    database = await connect(store);
    await migrate(database.kysely, database.dialect);
    accountId = (await new Accounts(database.kysely).create('payer@example.com', false))?.id ?? '';
    all = await addMovements();
  });
  afterAll(async () => {
    await database.kysely.destroy();
    await store.remove();
  });

  /** Several have the same millisecond, so that only the id orders them. */
  async function addMovements(): Promise<StatementLine[]> {
    const wallet = `wallet:${accountId}`;
    const rows = Array.from({ length: LINES }, (_, index) => {
      const kind = KINDS[(index * 7) % KINDS.length] ?? '';
      const isIn = kind === 'paid' || kind === 'manual';
      const amount = BigInt(1 + ((index * 7919) % 1000)) * (isIn ? 3n : 1n);
      const sides = isIn ? { debit: 'stripe_clearing', credit: wallet } : { debit: wallet, credit: 'revenue' };
      return {
        id: `t${(index * 31) % 1000}-${index}`,
        ...sides,
        amount,
        kind,
        ref: '',
        created_at: START_MS + Math.floor(index / 4) * STEP_MS,
      };
    });
    await database.kysely.insertInto('transfers').values(rows).execute();
    const sum = (side: 'debit' | 'credit') => rows.reduce((total, row) => total + (row[side] === wallet ? row.amount : 0n), 0n);
    await database.kysely
      .updateTable('wallets')
      .set({ credits_posted: sum('credit'), debits_posted: sum('debit') })
      .execute();
    const oldestFirst = rows.toSorted((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1));
    let balance = 0n;
    return oldestFirst
      .map((row) => {
        const amount = row.credit === wallet ? row.amount : -row.amount;
        balance += amount;
        return { id: row.id, atMs: row.created_at, kind: row.kind, reason: '', amount, balance } as StatementLine;
      })
      .toReversed();
  }

  const comparePages = async (): Promise<void> => {
    const input = fc.record({
      kinds: fc.option(fc.uniqueArray(fc.constantFrom(...KINDS), { maxLength: 3 }), { nil: undefined, freq: 2 }),
      fromMs: fc.option(fc.integer({ min: START_MS - 5, max: END_MS + 5 }), { nil: undefined, freq: 2 }),
      toMs: fc.option(fc.integer({ min: START_MS - 5, max: END_MS + 5 }), { nil: undefined, freq: 2 }),
      linesMax: fc.integer({ min: 1, max: 120 }),
    });
    await fc.assert(
      fc.asyncProperty(input, async (question) => {
        const expected = all.filter(
          ({ kind, atMs }) =>
            (question.kinds?.includes(kind) ?? true) &&
            atMs >= (question.fromMs ?? 0) &&
            atMs < (question.toMs ?? Number.POSITIVE_INFINITY),
        );
        const found: StatementLine[] = [];
        let after: StatementCursor | undefined;
        for (let pages = 0; pages < 4; pages += 1) {
          const page = await readStatement(database.kysely, accountId, { ...question, after });
          found.push(...page.lines);
          after = page.next;
          if (after === undefined) break;
        }
        expect(found).toEqual(expected.slice(0, after === undefined ? expected.length : found.length));
      }),
      { numRuns: 50 },
    );
  };

  test('every page of every kind and range has the balances of the whole statement', comparePages, 30_000);

  test('the same with balance marks at past hours', async () => {
    // Hours are only looked for where something was used.
    const sums = { requests: 1, errors: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 };
    const rest = { reasoning_tokens: 0, cost: 0, first_token_ms: 0, first_token_count: 0, duration_ms: 0 };
    const place = { account_id: accountId, key_id: 'key', model: 'model', provider: '', ...sums, ...rest };
    await database.kysely
      .insertInto('usage_rollups')
      .values([START_MS, START_MS + 15 * STEP_MS].map((atMs) => ({ ...place, quarter_hour: atMs - (atMs % 900_000) })))
      .execute();
    while ((await advanceHistory(database, { accountId, grid: HOURS, nowMs: END_MS })) === 'behind');
    const marks = await database.kysely.selectFrom('balance_marks').selectAll().orderBy('before_at').execute();
    expect(marks.length).toBeGreaterThan(5);
    for (const { before_at: before, balance } of marks) expect(balance).toBe(all.find(({ atMs }) => atMs < before)?.balance ?? 0n);
    await comparePages();
    for (const { id, atMs, balance } of all.slice(0, 40))
      expect(await readBalanceAfter(database.kysely, accountId, { id, atMs })).toBe(balance);
  }, 120_000);

  test('balances of a page are right even if a line was inserted behind the previous page meanwhile', async () => {
    const { kysely } = database;
    const account = await new Accounts(kysely).create('late@example.com', false);
    if (account === undefined) throw new Error('the address is taken');
    const nowMs = Date.now();
    const posting = { accountId: account.id, reason: 'test' };
    await postCredit(kysely, { ...posting, kind: 'manual', house: 'promo_expense', amount: asNanos(1000n), source: 'late:0', atMs: nowMs });
    const charge = (n: number, amount: bigint, atMs: number) =>
      postDebit(kysely, { ...posting, kind: 'usage', house: 'revenue', amount: asNanos(amount), source: `late:${n}`, atMs });
    for (const n of [1, 2, 3, 4]) await charge(n, 10n, nowMs + 10 * n);
    const first = await readStatement(kysely, account.id, { linesMax: 2 });
    await charge(5, 7n, nowMs + 15);
    const second = await readStatement(kysely, account.id, { linesMax: 10, after: first.next });
    const balances = second.lines.map(({ amount, balance }) => `${amount} leaves ${balance}`);
    expect(balances).toEqual(['-10 leaves 973', '-7 leaves 983', '-10 leaves 990', '1000 leaves 1000']);
  });
});
