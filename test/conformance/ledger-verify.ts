import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Picos } from '../../src/ledger/money.ts';
import { recordPrices } from '../../src/ledger/price-versions.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { holdOf, MODEL, settleOf } from '../ledger/operations.ts';
import { LONGEST_REQUEST_MS, type LedgerDriver } from './ledger-driver.ts';
import { MoneyStage, usd } from './money-in/stage.ts';

/** A thousand picos a token, of which the request of `settleOf` has 22. */
const PICOS = 1000n as Picos;
const PRICE = { input: PICOS, cachedInput: PICOS, cacheWrite: PICOS, output: PICOS };

/** What could go wrong in a database, how it is put right again, and the beginnings of the rules that see it. */
const FALSEHOODS: readonly { readonly what: string; readonly spoil: string; readonly mend: string; readonly rules: readonly string[] }[] = [
  {
    what: 'a wallet with a nano-dollar too much',
    spoil: 'UPDATE wallets SET credits_posted = credits_posted + 1',
    mend: 'UPDATE wallets SET credits_posted = credits_posted - 1',
    rules: ['R1 the sums', 'R3 what is left', 'R9 the trial'],
  },
  {
    what: 'a wallet with a charge that is not there',
    spoil: 'UPDATE wallets SET debits_posted = debits_posted + 1',
    mend: 'UPDATE wallets SET debits_posted = debits_posted - 1',
    rules: ['R1 the sums', 'R3 what is left', 'R9 the trial'],
  },
  {
    what: 'money that is pending for nothing',
    spoil: 'UPDATE wallets SET debits_pending = debits_pending + 1',
    mend: 'UPDATE wallets SET debits_pending = debits_pending - 1',
    rules: ['R2 what is pending'],
  },
  {
    what: 'a budget that holds too little',
    spoil: 'UPDATE key_budgets SET held = held - 1',
    mend: 'UPDATE key_budgets SET held = held + 1',
    rules: ['R2 what is pending'],
  },
  {
    what: 'a hold that was changed',
    spoil: 'UPDATE holds SET amount = amount + 1',
    mend: 'UPDATE holds SET amount = amount - 1',
    rules: ['R2 what is pending'],
  },
  {
    what: 'a grant of which more is left',
    spoil: "UPDATE grants SET remaining = remaining + 1 WHERE kind = 'paid'",
    mend: "UPDATE grants SET remaining = remaining - 1 WHERE kind = 'paid'",
    rules: ['R3 what is left'],
  },
  {
    what: 'a charge that differs from its transfer and its prices',
    spoil: 'UPDATE usage SET cost = cost + 1',
    mend: 'UPDATE usage SET cost = cost - 1',
    rules: ['R4 every charge has one transfer', 'R8 the roll-ups'],
  },
  {
    what: 'a charge of tokens that were not counted',
    spoil: 'UPDATE usage SET output_tokens = output_tokens + 1',
    mend: 'UPDATE usage SET output_tokens = output_tokens - 1',
    rules: ['R4 every charge has one transfer', 'R8 the roll-ups'],
  },
  {
    what: 'a price that was changed afterwards',
    spoil: "UPDATE prices SET pico = pico + 1000 WHERE item = 'output'",
    mend: "UPDATE prices SET pico = pico - 1000 WHERE item = 'output'",
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'a charge by prices that are not there',
    spoil: 'UPDATE usage SET price_version = 77',
    mend: 'UPDATE usage SET price_version = 1',
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'a version of prices that lacks one',
    spoil: "UPDATE prices SET item = 'none' WHERE item = 'cache_write'",
    mend: "UPDATE prices SET item = 'cache_write' WHERE item = 'none'",
    rules: ['R4 every charge has one transfer'],
  },
  {
    what: 'a charge without its usage row',
    spoil: "UPDATE transfers SET id = 'req_9' WHERE id = 'req_1'",
    mend: "UPDATE transfers SET id = 'req_1' WHERE id = 'req_9'",
    rules: ['R4 every charge has one transfer', 'R4 every charge has its usage row'],
  },
  {
    what: 'a promo code that was redeemed and not used',
    spoil: 'UPDATE promo_codes SET used = used - 1',
    mend: 'UPDATE promo_codes SET used = used + 1',
    rules: ['R6 the uses'],
  },
  {
    what: 'a period of a plan without its grant',
    spoil: "UPDATE grants SET source = 'x' || source WHERE kind = 'plan'",
    mend: "UPDATE grants SET source = substr(source, 2) WHERE kind = 'plan'",
    rules: ['R6 every period'],
  },
  {
    what: 'credit of a plan that is used in another order',
    spoil: "UPDATE grants SET draw_order = draw_order + 1 WHERE kind = 'plan'",
    mend: "UPDATE grants SET draw_order = draw_order - 1 WHERE kind = 'plan'",
    rules: ['R6 credit is used'],
  },
  {
    what: 'a payment of another amount than was credited',
    spoil: 'UPDATE payments SET amount = amount + 1',
    mend: 'UPDATE payments SET amount = amount - 1',
    rules: ['R7 clearing', 'R7 every payment'],
  },
  {
    what: 'a payment that was credited for nothing',
    spoil: "UPDATE payments SET status = 'failed' WHERE status = 'paid'",
    mend: "UPDATE payments SET status = 'paid' WHERE status = 'failed'",
    rules: ['R7 clearing'],
  },
  {
    what: 'a roll-up that counts a request too much',
    spoil: 'UPDATE usage_rollups SET requests = requests + 1',
    mend: 'UPDATE usage_rollups SET requests = requests - 1',
    rules: ['R8 the roll-ups'],
  },
];

/** That the verification sees what is wrong: each rule is broken on purpose. */
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
    await stage.topUp(customer, '20');
    await stage.redeem(customer, await stage.makeCode({ kind: 'credit', amount: usd('5') }));
    await stage.subscriptions.order(
      { type: 'subscribe', planId: 'basic' },
      { accountId: customer.accountId, nowMs: stage.nowMs, paysBy: 'balance' },
    );
    await stage.books.keys.setBudget(customer.keyId, 'day', usd('1'));
    await recordPrices(stage.books.kysely, [{ id: MODEL, price: PRICE }]);
    const store = await stage.books.openStore('node_1');
    // The first quarter of an hour is not compared, since rows of it may have been dropped.
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

  test('finds nothing where all is well', async () => {
    expect(await broken()).toEqual([]);
  });

  test.each(FALSEHOODS)('finds $what', async ({ spoil, mend, rules }) => {
    await sql.raw(spoil).execute(stage.books.kysely);
    const found = await broken();
    await sql.raw(mend).execute(stage.books.kysely);
    expect(rules.filter((rule) => !found.some((name) => name.startsWith(rule)))).toEqual([]);
    expect(found).toHaveLength(rules.length);
    expect(await broken()).toEqual([]);
  });
}
