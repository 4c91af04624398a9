import { Stripe } from 'stripe';
import { Plans } from '../../src/accounts/plans.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { stripeWebhook } from '../../src/payments/webhook.ts';
import type { OpenStore } from '../accounts/stores.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { FrontDesk, type Answer, type Visitor } from './front-desk.ts';

const RULES = { minimum: usd('5'), maximum: usd('500'), presets: [usd('1'), usd('10'), usd('25'), usd('1000')], graceMs: 0 };

/** The dashboard's API with Stripe, the plans "basic", "pro" and "closed", and a person who pays. */
export class BillingCounter {
  readonly desk: FrontDesk;
  readonly stripe: StripeSimulator;
  me: Visitor;
  readonly #webhook: (request: Request) => Promise<Response>;

  private constructor(parts: Pick<BillingCounter, 'desk' | 'stripe' | 'me'>, webhook: (request: Request) => Promise<Response>) {
    this.desk = parts.desk;
    this.stripe = parts.stripe;
    this.me = parts.me;
    this.#webhook = webhook;
  }

  static async open(store: OpenStore): Promise<BillingCounter> {
    const stripe = await startStripeSimulator();
    const settings = { secretKey: 'sk_test_simulated', webhookSecret: stripe.secret, apiUrl: stripe.url };
    const payments = { rules: RULES, stripe: settings, bankTransfer: 'IBAN XX00' };
    const money = await openMoneyIn({ database: store.kysely, payments, url: 'https://gate.example.com' });
    const webhook = stripeWebhook({ database: store.kysely, stripe: new Stripe('sk_test_simulated'), secret: stripe.secret });
    const desk = await FrontDesk.open(store, { money });
    const plans = new Plans(store.kysely);
    const plan = planOf('basic', { price: usd('10'), included: usd('12') });
    await plans.save(plan, 'command');
    await plans.save({ ...plan, id: 'pro', name: 'pro', price: usd('30') }, 'command');
    await plans.save({ ...plan, id: 'closed', name: 'closed', price: usd('5'), overflow: 'stop' }, 'command');
    return new BillingCounter({ desk, stripe, me: await desk.person() }, webhook);
  }

  async close(): Promise<void> {
    await this.desk.store.close();
    await this.stripe.stop();
  }

  begin(form: JsonObject = {}): Promise<Answer> {
    return this.me.post('/billing/top-ups', { amountUsd: '20', provider: 'stripe', ...form });
  }

  async pay(paymentId: unknown): Promise<void> {
    const { books } = this.stripe;
    const from = books.events.length;
    books.pay(books.sessionOf(String(paymentId)));
    for (const event of books.events.slice(from)) await this.stripe.deliver(event, this.#webhook);
  }

  async topUp(form: JsonObject = {}): Promise<JsonObject> {
    const { body } = await this.begin(form);
    await this.pay(body['id']);
    return (await this.me.get(`/billing/payments/${String(body['id'])}`)).body;
  }

  async quote(planId: string): Promise<JsonObject> {
    return (await this.me.get(`/plans/quote?planId=${planId}`)).body;
  }

  takeQuoted(planId: string, { atMs, id }: JsonObject, more: JsonObject = {}): Promise<Answer> {
    return this.me.post('/plans/take', { planId, atMs, quoteId: id, payBy: 'balance', ...more });
  }

  async take(planId: string, more: JsonObject = {}): Promise<Answer> {
    return this.takeQuoted(planId, await this.quote(planId), more);
  }
}

export async function messageOf(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  return `${status} ${String((body['error'] as JsonObject)['message'])}`;
}
