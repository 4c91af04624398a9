import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MoneyStage, usd, type Customer } from '../conformance/money-in/stage.ts';
import type { LedgerDriver } from '../conformance/ledger-driver.ts';
import { postgres } from '../ledger/postgres-driver.ts';
import { sqlite } from '../ledger/sqlite-driver.ts';
import { postgresUrl } from '../services/postgres.ts';
import type { StripeObject } from '../simulator/stripe-books.ts';

/** Makes two top-ups, a bonus, three refunds of which one fails, and a won dispute. Returns the customer and the events. */
async function makeStory(stage: MoneyStage): Promise<{ customer: Customer; events: StripeObject[] }> {
  const customer = await stage.makeCustomer();
  await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 10, amount: usd('5') }, { minimumTopUp: usd('30') }));
  const { books } = stage.stripe;
  const from = books.events.length;
  const [first, second] = [await stage.begin(customer, '20'), await stage.begin(customer, '40')];
  const small = String(books.pay(books.sessionOf(first.id))['id']);
  const large = String(books.pay(books.sessionOf(second.id))['id']);
  books.refund(small, 500);
  books.failRefund(books.refund(small, 300));
  books.refund(large, 1000);
  books.closeDispute(books.dispute(small), 'won');
  return { customer, events: books.events.slice(from) };
}

/** 20 - 5 from the first; from the second 40 and a bonus of 4, a quarter of both refunded. */
const EXPECTED = usd('15') + usd('30') + usd('3');

function testOrder(driver: LedgerDriver, runs: number): void {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
  });
  afterAll(() => stage.close());

  test('events in any order, repeated, late or resent, lead to the same ledger', async () => {
    const shape = await makeStory(stage);
    const places = shape.events.map((_, index) => index);
    // Every event arrives at least once, in any order. Dropped events are sent again later, as Stripe does.
    const deliveries = fc
      .tuple(
        fc.shuffledSubarray(places, { minLength: 0 }),
        fc.shuffledSubarray(places, { minLength: places.length }),
        fc.array(fc.constantFrom(...places), { maxLength: 6 }),
      )
      .map(([early, all, again]) => [...early, ...all, ...again]);
    await fc.assert(
      fc.asyncProperty(deliveries, fc.boolean(), async (order, isParallel) => {
        const { customer, events } = await makeStory(stage);
        const deliver = (index: number) => stage.stripe.deliver(events[index] ?? {}, stage.webhook);
        if (isParallel) await Promise.all(order.map(deliver));
        else for (const index of order) await deliver(index);
        expect(await stage.balance(customer)).toBe(EXPECTED);
        const rows = await stage.books.kysely
          .selectFrom('payments')
          .selectAll()
          .where('account_id', '=', customer.accountId)
          .orderBy('amount')
          .execute();
        expect(
          rows.map(({ status, amount, reversed, bonus, bonus_reversed }) => [status, amount, reversed, bonus, bonus_reversed]),
        ).toEqual([
          ['paid', usd('20'), usd('5'), 0n, 0n],
          ['paid', usd('40'), usd('10'), usd('4'), usd('1')],
        ]);
      }),
      { numRuns: runs, ...(process.env['TOLLGATE_SEED'] !== undefined && { seed: Number(process.env['TOLLGATE_SEED']) }) },
    );
    await stage.books.expectSound();
  }, 120_000);
}

/** Returns every order of the items. */
function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe('events of one payment', () => {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(sqlite);
  });
  afterAll(() => stage.close());

  test('may arrive in any of their 120 orders, each twice', async () => {
    const { books } = stage.stripe;
    for (const order of permutations([0, 1, 2, 3, 4])) {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer, '20');
      const from = books.events.length;
      const intent = String(books.pay(books.sessionOf(payment.id))['id']);
      books.failRefund(books.refund(intent, 300));
      // The payment twice; the refund created, updated and failed. The event about the charge adds nothing.
      const events = books.events.slice(from).filter(({ type }) => type !== 'charge.refunded');
      for (const index of [...order, ...order]) await stage.stripe.deliver(events[index] ?? {}, stage.webhook);
      expect(await stage.balance(customer)).toBe(usd('20'));
    }
    await stage.books.expectSound();
  }, 120_000);

  test.each<[string, [cents: number, laterSeconds: number][], string]>([
    ['less than at first', [[500, 60]], '15'],
    ['more than at first', [[2000, 60]], '0'],
    [
      'the first one again',
      [
        [500, 60],
        [1000, 120],
      ],
      '10',
    ],
    [
      'of one second the largest',
      [
        [500, 60],
        [700, 60],
      ],
      '13',
    ],
    [
      'the first one, of one second the largest',
      [
        [500, 0],
        [700, 0],
      ],
      '10',
    ],
  ])(
    'take the newest amount of a dispute in any order: %s',
    async (_, changes, left) => {
      const { books } = stage.stripe;
      for (const order of permutations(Array.from({ length: 3 + changes.length }, (__, index) => index))) {
        const customer = await stage.makeCustomer();
        const payment = await stage.begin(customer, '20');
        const from = books.events.length;
        const dispute = books.dispute(String(books.pay(books.sessionOf(payment.id))['id']), 1000);
        for (const [cents, laterSeconds] of changes) books.changeDispute(dispute, cents, laterSeconds);
        // The payment twice; the dispute created and updated.
        const events = books.events.slice(from).filter(({ type }) => type !== 'charge.dispute.funds_withdrawn');
        for (const index of [...order, ...order]) await stage.stripe.deliver(events[index] ?? {}, stage.webhook);
        expect(await stage.balance(customer)).toBe(usd(left));
      }
      await stage.books.expectSound();
    },
    120_000,
  );
});

describe('Stripe events on the embedded database', () => testOrder(sqlite, 40));
describe.skipIf(postgresUrl === undefined)('Stripe events on PostgreSQL', () => testOrder(postgres, 20));
