import { Stripe } from 'stripe';
import { Plans, type Plan } from '../../../src/accounts/plans.ts';
import { PromoCodes, type PromoBenefit, type PromoRules } from '../../../src/accounts/promo-codes.ts';
import { redeem } from '../../../src/accounts/redeem.ts';
import { Subscriptions } from '../../../src/accounts/subscriptions.ts';
import type { LedgerStore } from '../../../src/ledger/ledger.ts';
import { asNanos, parseUsd, type Nanos } from '../../../src/ledger/money.ts';
import { AutoTopUps } from '../../../src/payments/auto-top-up.ts';
import { MoneyClock } from '../../../src/payments/clock.ts';
import type { PaymentRow } from '../../../src/payments/payments.ts';
import { openCustomers } from '../../../src/payments/customers.ts';
import { PaymentDesk, type StartResult } from '../../../src/payments/desk.ts';
import { ManualDriver } from '../../../src/payments/manual.ts';
import { runEach } from '../../../src/run-each.ts';
import { openStripe, StripeDriver } from '../../../src/payments/stripe.ts';
import { stripeWebhook } from '../../../src/payments/webhook.ts';
import { holdOf, settleOf, type Owner } from '../../ledger/operations.ts';
import { startStripeSimulator, type StripeSimulator } from '../../simulator/stripe.ts';
import type { StripeObject } from '../../simulator/stripe-books.ts';
import { Books, type LedgerDriver } from '../ledger-driver.ts';

export const DAY_MS = 86_400_000;
/** The start of the stage's clock: real time, because signatures use it. */
const START_MS = Date.now();

/** An account on the stage. */
export interface Customer extends Owner {
  readonly email: string;
}

/** Parses a USD amount. */
export function usd(text: string): Nanos {
  return asNanos(parseUsd(text) ?? 0n);
}

/** A typical plan. */
export function planOf(id: string, changes: Partial<Plan> = {}): Plan {
  return {
    id,
    name: id,
    price: usd('20'),
    interval: 'month',
    included: usd('25'),
    isOffered: true,
    useFirst: 'plan',
    overflow: 'balance',
    ...changes,
  };
}

/** Does all background work on incoming money once. A failure does not hold up the rest, as with a clock for each. */
export async function turnOf(money: MoneyClock, nowMs: number): Promise<void> {
  const works = [
    () => money.followUp(nowMs),
    () => money.topUp(nowMs),
    () => money.renew('balance', nowMs),
    () => money.renew('card', nowMs),
    () => money.forgetCustomers(nowMs),
    () => money.prune(nowMs),
  ];
  await runEach(works, (work) => work());
}

/** All ways for money to come in, on one database, with a simulated Stripe and a clock that the test moves. */
export class MoneyStage {
  readonly books: Books;
  readonly stripe: StripeSimulator;
  readonly desk: PaymentDesk;
  /** Does all background work once. */
  readonly clock: { turn(nowMs: number): Promise<void> };
  readonly autoTopUps: AutoTopUps;
  readonly subscriptions: Subscriptions;
  readonly plans: Plans;
  readonly promos: PromoCodes;
  /** The customers that Stripe was asked to delete and did not. */
  readonly kept: string[] = [];
  readonly webhook: (request: Request) => Promise<Response>;
  nowMs = START_MS;
  #count = 0;
  #store: LedgerStore | undefined;

  private constructor(books: Books, stripe: StripeSimulator) {
    this.books = books;
    this.stripe = stripe;
    const clock = (): number => this.nowMs;
    stripe.books.clock = clock;
    const client = openStripe({ secretKey: 'sk_test_simulated', apiUrl: stripe.url });
    const driver = new StripeDriver(client, {
      customers: openCustomers(books.kysely, 'stripe'),
      returnUrl: 'http://gate.test/billing',
      clock,
    });
    const rules = { minimum: usd('5'), maximum: usd('500'), presets: [usd('10')], graceMs: 3 * DAY_MS };
    this.desk = new PaymentDesk(books.kysely, [driver, new ManualDriver()], rules);
    const money = new MoneyClock(books.kysely, this.desk, ({ customerRef }) => void this.kept.push(customerRef));
    this.clock = { turn: (nowMs) => turnOf(money, nowMs) };
    this.autoTopUps = new AutoTopUps(books.kysely, this.desk);
    this.subscriptions = new Subscriptions(books.kysely);
    this.plans = new Plans(books.kysely);
    this.promos = new PromoCodes(books.kysely);
    this.webhook = stripeWebhook({
      database: books.kysely,
      stripe: new Stripe('sk_test_simulated'),
      secret: stripe.secret,
      clock: () => START_MS,
    });
  }

  static async open(driver: LedgerDriver): Promise<MoneyStage> {
    return new MoneyStage(await Books.open(driver), await startStripeSimulator());
  }

  async close(): Promise<void> {
    await this.stripe.stop();
    await this.books.close();
  }

  async makeCustomer(nanos = 0n, email?: string): Promise<Customer> {
    this.#count += 1;
    const address = email ?? `customer-${this.#count}@example.com`;
    const account = await this.books.accounts.create(address, false);
    if (account === undefined) throw new Error('the address is taken');
    const owner = { accountId: account.id, keyId: (await this.books.keys.create(account.id, { name: 'test' })).id, email: address };
    if (nanos > 0n) await this.books.credit(owner, nanos);
    return owner;
  }

  /** Starts a top-up by card. */
  async start(customer: Customer, amount = '20', changes: Partial<Parameters<PaymentDesk['start']>[0]> = {}): Promise<StartResult> {
    return this.desk.start({ payer: customer, amount: usd(amount), provider: 'stripe', nowMs: this.nowMs, ...changes });
  }

  /** Starts a payment that must not be refused. */
  async begin(customer: Customer, amount = '20', changes: Partial<Parameters<PaymentDesk['start']>[0]> = {}): Promise<PaymentRow> {
    const result = await this.start(customer, amount, changes);
    if (result.type === 'refused') throw new Error(`refused: ${result.why}`);
    return result.payment;
  }

  /** Delivers and returns the events created since, in order. */
  async deliverNew(from: number): Promise<StripeObject[]> {
    const events = this.stripe.books.events.slice(from);
    for (const event of events) await this.stripe.deliver(event, this.webhook);
    return events;
  }

  /** Pays on Stripe's page, perhaps differently than requested, and delivers Stripe's events. */
  async pay(paymentId: string, payment: Parameters<StripeSimulator['books']['pay']>[1] = {}): Promise<void> {
    const from = this.stripe.books.events.length;
    this.stripe.books.pay(this.stripe.books.sessionOf(paymentId), payment);
    await this.deliverNew(from);
  }

  /** Spends without a limit, like a request that cost more than was held. */
  async spend(owner: Owner, amount: string): Promise<void> {
    const id = `req_${crypto.randomUUID()}`;
    await (await this.#openStore()).apply([holdOf(owner, id, { amount: 0n }), settleOf(owner, id, { cost: usd(amount) })]);
  }

  /** Takes back all credit that expires within this many days. */
  async expireWithin(days: number): Promise<void> {
    await (await this.#openStore()).apply([{ type: 'expire', nowMs: this.nowMs + days * DAY_MS }]);
  }

  /** Tops up by card, from the first click to the credit. */
  async topUp(customer: Customer, amount = '20', changes: Partial<Parameters<PaymentDesk['start']>[0]> = {}): Promise<PaymentRow> {
    const payment = await this.begin(customer, amount, changes);
    await this.pay(payment.id);
    return this.desk.require(payment.id);
  }

  /** Creates a customer with a saved card that was charged once. */
  async makeCardHolder(amount = '20'): Promise<Customer & { readonly card: string }> {
    const customer = await this.makeCustomer();
    await this.topUp(customer, amount, { savesCard: true });
    const cards = await this.cardsOf(customer);
    return { ...customer, card: cards[0] ?? '' };
  }

  async cardsOf({ accountId }: Owner): Promise<string[]> {
    return ((await this.desk.driver('stripe')?.cards?.list(accountId)) ?? []).map((card) => card.methodRef);
  }

  async balance(owner: Owner): Promise<bigint> {
    return (await this.books.money(owner)).balance;
  }

  /** Returns what is left of an account's credit, by kind. */
  async left({ accountId }: Owner): Promise<Record<string, bigint>> {
    const grants = await this.books.kysely
      .selectFrom('grants')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('is_spent', '=', 0n)
      .execute();
    const sums: Record<string, bigint> = {};
    for (const { kind, remaining } of grants) sums[kind] = (sums[kind] ?? 0n) + remaining;
    return sums;
  }

  async makeCode(benefit: PromoBenefit, rules: Partial<PromoRules> = {}): Promise<string> {
    const made = await this.promos.create({ prefix: 'test', count: 1 }, benefit, {
      usesMax: 1,
      perAccount: 1,
      minimumTopUp: usd('0'),
      ...rules,
    });
    return made?.[0]?.code ?? '';
  }

  /** Redeems a code and returns the reason for a refusal, or 'redeemed'. */
  async redeem({ accountId }: Owner, code: string, address?: string): Promise<string> {
    const result = await redeem(this.books.kysely, { accountId, code, address, nowMs: this.nowMs });
    return result.type === 'redeemed' ? 'redeemed' : result.why;
  }

  async #openStore(): Promise<LedgerStore> {
    this.#store ??= await this.books.openStore('node_spending');
    return this.#store;
  }

  async makePlan(id: string, changes: Partial<Plan> = {}): Promise<Plan> {
    const plan = planOf(id, changes);
    await this.plans.save(plan, 'command');
    return plan;
  }
}
