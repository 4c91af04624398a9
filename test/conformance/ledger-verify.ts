import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { alignUse } from '../../src/accounts/plan-use.ts';
import { MINUTE_MS } from '../../src/durations.ts';
import { idAt } from '../../src/ids.ts';
import { ROLLUP_SUMS } from '../../src/ledger/checks.ts';
import type { Picos } from '../../src/ledger/money.ts';
import { recordPrices } from '../../src/ledger/price-versions.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { holdOf, MODEL, settleOf } from '../ledger/operations.ts';
import { testChangedAccounts } from './ledger-changed.ts';
import { LONGEST_REQUEST_MS, type LedgerDriver } from './ledger-driver.ts';
import { MoneyStage, usd } from './money-in/stage.ts';

/** A thousand picos per token. The request of `settleOf` has 22 tokens. */
const PICOS = 1000n as Picos;
const PRICE = { input: PICOS, cachedInput: PICOS, cacheWrite: PICOS, output: PICOS };

/** Ways to corrupt a database, how to undo each, and the prefixes of the rules that detect it. */
const CORRUPTIONS: readonly {
  readonly what: string;
  readonly corrupt: string;
  readonly repair: string;
  readonly rules: readonly string[];
}[] = [
  {
    what: 'a wallet with a nano-dollar too many',
    corrupt: 'UPDATE wallets SET credits_posted = credits_posted + 1',
    repair: 'UPDATE wallets SET credits_posted = credits_posted - 1',
    rules: ['R1 the sums', 'R3 the remaining', 'R3 the grants', 'R9 the trial'],
  },
  {
    what: 'a wallet with a charge that does not exist',
    corrupt: 'UPDATE wallets SET debits_posted = debits_posted + 1',
    repair: 'UPDATE wallets SET debits_posted = debits_posted - 1',
    rules: ['R1 the sums', 'R3 the remaining', 'R9 the trial'],
  },
  {
    what: 'money pending without a hold',
    corrupt: 'UPDATE wallets SET debits_pending = debits_pending + 1',
    repair: 'UPDATE wallets SET debits_pending = debits_pending - 1',
    rules: ['R2 pending amounts'],
  },
  {
    what: 'a budget that holds too little',
    corrupt: 'UPDATE key_budgets SET held = held - 1',
    repair: 'UPDATE key_budgets SET held = held + 1',
    rules: ['R2 pending amounts'],
  },
  {
    what: 'a changed hold',
    corrupt: 'UPDATE holds SET amount = amount + 1',
    repair: 'UPDATE holds SET amount = amount - 1',
    rules: ['R2 pending amounts'],
  },
  {
    what: 'a grant with too much left',
    corrupt: "UPDATE grants SET remaining = remaining + 1 WHERE kind = 'paid'",
    repair: "UPDATE grants SET remaining = remaining - 1 WHERE kind = 'paid'",
    rules: ['R3 the remaining'],
  },
  {
    what: 'a charge that differs from its transfer and its prices',
    corrupt: 'UPDATE usage SET cost = cost + 1',
    repair: 'UPDATE usage SET cost = cost - 1',
    rules: ['R4 every charge has one transfer', 'R8 the roll-ups'],
  },
  {
    what: 'a charge for tokens that were not counted',
    corrupt: 'UPDATE usage SET output_tokens = output_tokens + 1',
    repair: 'UPDATE usage SET output_tokens = output_tokens - 1',
    rules: ['R4 every charge has one transfer', 'R8 the roll-ups'],
  },
  {
    what: 'a price changed afterwards',
    corrupt: "UPDATE prices SET pico = pico + 1000 WHERE item = 'output'",
    repair: "UPDATE prices SET pico = pico - 1000 WHERE item = 'output'",
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'a charge at prices that do not exist',
    corrupt: 'UPDATE usage SET price_version = 77',
    repair: 'UPDATE usage SET price_version = 1',
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'an incomplete price version',
    corrupt: "UPDATE prices SET item = 'none' WHERE item = 'cache_write'",
    repair: "UPDATE prices SET item = 'cache_write' WHERE item = 'none'",
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'a charge without its usage row',
    corrupt: "UPDATE transfers SET id = 'req_9' WHERE id = 'req_1'",
    repair: "UPDATE transfers SET id = 'req_1' WHERE id = 'req_9'",
    rules: ['R4 every charge has one transfer', 'R4 every charge has a usage row'],
  },
  {
    what: 'a promo code that was redeemed but not counted as used',
    corrupt: 'UPDATE promo_codes SET used = used - 1',
    repair: 'UPDATE promo_codes SET used = used + 1',
    rules: ['R6 the uses'],
  },
  {
    what: 'a plan period without its grant',
    corrupt: "UPDATE grants SET source = 'x' || source WHERE kind = 'plan'",
    repair: "UPDATE grants SET source = substr(source, 2) WHERE kind = 'plan'",
    rules: ['R6 every plan period'],
  },
  {
    what: 'plan credit used in another order',
    corrupt: "UPDATE grants SET draw_order = draw_order + 1 WHERE kind = 'plan'",
    repair: "UPDATE grants SET draw_order = draw_order - 1 WHERE kind = 'plan'",
    rules: ['R6 credit is used'],
  },
  {
    what: 'a payment with another amount than was credited',
    corrupt: 'UPDATE payments SET amount = amount + 1',
    repair: 'UPDATE payments SET amount = amount - 1',
    rules: ['R7 the clearing', 'R7 every completed'],
  },
  {
    what: 'a failed payment that was credited',
    corrupt: "UPDATE payments SET status = 'failed' WHERE status = 'paid'",
    repair: "UPDATE payments SET status = 'paid' WHERE status = 'failed'",
    rules: ['R7 the clearing'],
  },
  {
    what: 'a roll-up with one request too many',
    corrupt: 'UPDATE usage_rollups SET requests = requests + 1',
    repair: 'UPDATE usage_rollups SET requests = requests - 1',
    rules: ['R8 the roll-ups'],
  },
];

/** The numbers that money depends on and that must not change by themselves. Each can be worked out from other rows. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  wallets: ['credits_posted', 'debits_posted', 'debits_pending'],
  transfers: ['amount'],
  holds: ['amount'],
  usage: ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens', 'cost'],
  usage_rollups: ROLLUP_SUMS,
  prices: ['pico'],
  grants: ['amount', 'expires_at'],
  key_budgets: ['held'],
  payments: ['amount', 'charge_cents', 'bonus', 'reversed'],
  payment_reversals: ['cents'],
  subscriptions: ['period_start', 'period_end'],
  plan_periods: ['period_start', 'period_end', 'price', 'included'],
  promo_codes: ['amount'],
  promo_redemptions: ['n'],
};

/** The largest number that the databases can store, so that adding anything to it fails. */
const MAX = '9223372036854775807';

/** Columns to turn into absurd numbers, and the rule that must notice. */
const ABSURD = [
  ['wallets', 'credits_posted', 'R1'],
  ['wallets', 'debits_posted', 'R1'],
  ['wallets', 'debits_pending', 'R2'],
  ['transfers', 'amount', 'R1'],
  ['holds', 'amount', 'R2'],
  ['usage', 'cost', 'R4'],
  ['usage', 'output_tokens', 'R4'],
  ['usage', 'duration_ms', 'R8'],
  ['usage_rollups', 'cost', 'R8'],
  ['prices', 'pico', 'R4'],
  ['payments', 'amount', 'R7'],
] as const;

/** Checks that the verification detects corruption: each rule is broken on purpose. */
export function testVerification(driver: LedgerDriver): void {
  let stage: MoneyStage;
  const broken = async (): Promise<string[]> => {
    const checks = await verifyLedger(stage.books.kysely, { longestRequestMs: LONGEST_REQUEST_MS });
    return checks.filter(({ ok }) => !ok).map(({ name }) => name);
  };

  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
    await stage.makePlan('basic', { price: usd('10'), included: usd('12') });
    const customer = await stage.makeCustomer();
    const payment = await stage.topUp(customer, '20');
    const told = stage.stripe.books.events.length;
    stage.stripe.books.refund(payment.provider_ref ?? '', 300);
    await stage.deliverNew(told);
    await stage.redeem(customer, await stage.makeCode({ kind: 'credit', amount: usd('5') }));
    await stage.subscriptions.order(
      { type: 'subscribe', planId: 'basic' },
      { accountId: customer.accountId, nowMs: stage.nowMs, paysBy: 'balance' },
    );
    await stage.books.keys.setBudget(customer.keyId, 'day', usd('1'));
    await recordPrices(stage.books.kysely, [{ id: MODEL, price: PRICE }]);
    const store = await stage.books.openStore('node_1');
    // The first quarter of an hour is not compared, because some of its rows may have been dropped.
    for (const [id, createdAtMs] of [
      ['req_0', Date.now() - 3_600_000],
      ['req_1', Date.now()],
    ] as const) {
      const { type, settlement } = settleOf(customer, id, { cost: 22n, createdAtMs });
      await store.apply([holdOf(customer, id, { amount: 100n, createdAtMs }), { type, settlement: { ...settlement, priceVersion: 1 } }]);
    }
    await store.apply([holdOf(customer, 'req_2', { amount: 50n })]);
  });
  afterAll(() => stage.close());

  test('finds nothing in a sound ledger', async () => {
    expect(await broken()).toEqual([]);
  });

  test('looks at requests since a moment, and at no earlier ones', async () => {
    const { kysely } = stage.books;
    const store = await stage.books.openStore('node_2');
    const owner = await stage.books.makeOwner(1000n);
    const [oldMs, newMs] = [Date.now() - 45 * MINUTE_MS, Date.now()];
    const [old, fresh] = [oldMs, newMs].map((atMs) => `${idAt('req', atMs)}_verified`);
    for (const [id = '', createdAtMs] of [[old, oldMs] as const, [fresh, newMs] as const]) {
      const { type, settlement } = settleOf(owner, id, { cost: 22n, createdAtMs });
      await store.apply([holdOf(owner, id, { amount: 100n, createdAtMs }), { type, settlement: { ...settlement, priceVersion: 1 } }]);
    }
    const differing = async (sinceMs: number | undefined): Promise<string[]> => {
      const options = { accountIds: [owner.accountId], sinceMs, longestRequestMs: LONGEST_REQUEST_MS };
      return (await verifyLedger(kysely, options)).filter(({ ok }) => !ok).map(({ name }) => name.slice(0, 2));
    };
    const sinceMs = newMs - 5 * MINUTE_MS;
    expect([await differing(undefined), await differing(sinceMs)]).toEqual([[], []]);
    await sql`UPDATE usage SET cost = cost + 1 WHERE request_id = ${old}`.execute(kysely);
    expect([await differing(undefined), await differing(sinceMs)]).toEqual([['R4', 'R8'], []]);
    await sql`UPDATE usage SET cost = cost + 1 WHERE request_id = ${fresh}`.execute(kysely);
    expect(await differing(sinceMs)).toEqual(['R4', 'R8']);
    await sql`UPDATE usage SET cost = cost - 1 WHERE account_id = ${owner.accountId}`.execute(kysely);
    expect(await differing(undefined)).toEqual([]);
  });

  const numbers = Object.entries(NUMBERS).flatMap(([table, columns]) => columns.map((column) => [table, column] as const));
  test.each(numbers)('notices that %s.%s is one too many', async (table, column) => {
    const add = (one: bigint) => sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sql.ref(column)} + ${one}`;
    await add(1n).execute(stage.books.kysely);
    const found = await broken();
    await add(-1n).execute(stage.books.kysely);
    expect(found).not.toEqual([]);
    expect(await broken()).toEqual([]);
  });

  test('waits for an edit of a plan to reach its subscribers', async () => {
    const { kysely } = stage.books;
    await kysely.updateTable('plans').set({ overflow: 'stop' }).execute();
    const verifying = broken();
    await Bun.sleep(500);
    await alignUse(kysely);
    expect(await verifying).toEqual([]);
    await stage.makePlan('basic', { price: usd('10'), included: usd('12') });
    expect(await broken()).toEqual([]);
  });

  test.each(ABSURD)('finds absurd numbers in %s.%s, and checks the other rules all the same', async (table, column, rule) => {
    // Twice is as before.
    const turn = sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sql.raw(MAX)} - ${sql.ref(column)}`;
    await turn.execute(stage.books.kysely);
    const found = await broken();
    await turn.execute(stage.books.kysely);
    expect(found.map((name) => name.slice(0, 2))).toContain(rule);
    expect(await broken()).toEqual([]);
  });

  test.each(CORRUPTIONS)('finds $what', async ({ corrupt, repair, rules }) => {
    await sql.raw(corrupt).execute(stage.books.kysely);
    const found = await broken();
    await sql.raw(repair).execute(stage.books.kysely);
    expect(rules.filter((rule) => !found.some((name) => name.startsWith(rule)))).toEqual([]);
    expect(found).toHaveLength(rules.length);
    expect(await broken()).toEqual([]);
  });

  describe('in the background', () => testChangedAccounts(driver));
}
