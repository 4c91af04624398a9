import type { Kysely } from 'kysely';
import type { OrderRefusal, PlanOrder } from '../../accounts/plan-orders.ts';
import { Plans } from '../../accounts/plans.ts';
import { isQuoteExpired, Subscriptions } from '../../accounts/subscriptions.ts';
import type { Tables } from '../../database/tables.ts';
import { readDebt, readPayable } from '../../ledger/credit.ts';
import { asNanos, formatUsd, type Nanos } from '../../ledger/money.ts';
import type { PaymentRow } from '../../payments/payments.ts';
import type { PaymentDesk, Payer } from '../../payments/desk.ts';
import { ApiError } from '../api-error.ts';
import { ORDER_REFUSALS, startMessage } from './billing-messages.ts';
import { describePlan, describeQuote, describeSubscription } from './describe-plan.ts';

/** How a plan is paid for. */
export interface PlanPayment {
  readonly payBy: 'balance' | 'card';
  /** A saved card; undefined to choose a card on the payment page. */
  readonly methodRef?: string | undefined;
}

/** The quote that the payer saw and accepts. */
interface TakenQuote {
  readonly planId: string;
  readonly atMs: number;
  readonly quoteId: string;
}

/** Everything the plans page shows and does. */
export class PlanDesk {
  readonly subscriptions: Subscriptions;
  readonly #database: Kysely<Tables>;
  readonly #plans: Plans;
  readonly #payments: PaymentDesk;

  constructor(database: Kysely<Tables>, payments: PaymentDesk) {
    this.#database = database;
    this.#plans = new Plans(database);
    this.#payments = payments;
    this.subscriptions = new Subscriptions(database);
  }

  get #hasCards(): boolean {
    return this.#payments.providers.includes('stripe');
  }

  /** Returns the offered plans, the account's subscription, and the part of its balance that can pay for plans. */
  async show(accountId: string) {
    const plans = (await this.#plans.read()).filter((plan) => plan.isOffered && !plan.isEnded);
    const subscription = await this.subscriptions.find(accountId);
    return {
      plans: plans.map(describePlan),
      subscription: subscription === undefined ? null : describeSubscription(subscription),
      payableUsd: formatUsd(await readPayable(this.#database, accountId)),
      hasCards: this.#hasCards,
    };
  }

  /** Returns the exact price of a plan now. */
  async quote(accountId: string, planId: string, nowMs: number) {
    const { quote, debt } = await this.#readQuote(accountId, planId, nowMs);
    return describeQuote(quote, debt);
  }

  /** Subscribes to a plan on the quoted terms: at once, or after a payment on the returned page. */
  async take(payer: Payer, { planId, atMs, quoteId }: TakenQuote, payment: PlanPayment) {
    const nowMs = Date.now();
    if (payment.methodRef !== undefined) await this.#requireCard(payer.accountId, payment.methodRef);
    const { quote, debt } = await this.#readQuote(payer.accountId, planId, atMs);
    if (describeQuote(quote, debt).id !== quoteId) throw refusal('quote_expired');
    if (quote.type === 'at_period_end') {
      const result = await this.subscriptions.changeAtPeriodEnd(payer.accountId, planId);
      if (result.type === 'refused') throw refusal(result.why);
      return { done: true, address: null, paymentId: null };
    }
    if (quote.type === 'upgrade' && isQuoteExpired(atMs, nowMs)) throw refusal('quote_expired');
    const agreed = { due: String(quote.due), credit: String(quote.credit) };
    const order: PlanOrder = quote.type === 'subscribe' ? { type: 'subscribe', planId, agreed } : { type: 'upgrade', planId, atMs, agreed };
    if (payment.payBy === 'card' && quote.due > 0n)
      return this.#payByCard(payer, { order, amount: asNanos(quote.due + debt), methodRef: payment.methodRef, nowMs });
    const result = await this.subscriptions.order(order, { accountId: payer.accountId, nowMs, paysBy: payment.payBy });
    if (result.type === 'refused') throw refusal(result.why);
    if (result.type === 'insufficient')
      throw new ApiError(
        'conflict',
        `The plan costs $${formatUsd(result.due)}, and your balance has $${formatUsd(result.payable)} that can pay for plans. Top up${this.#hasCards ? ', or pay by card' : ''}.`,
      );
    return { done: true, address: null, paymentId: null };
  }

  /** Sets how later periods are paid. A card must belong to the account. */
  async setPayment(accountId: string, { payBy, methodRef }: PlanPayment) {
    if (payBy === 'card' && !this.#hasCards) throw new ApiError('conflict', 'Card payments are not set up here.');
    if (payBy === 'card' && methodRef !== undefined) await this.#requireCard(accountId, methodRef);
    const isSet = await this.subscriptions.setPayment(accountId, payBy, payBy === 'card' ? methodRef : undefined);
    if (!isSet) throw new ApiError('conflict', 'You have no plan to pay for.');
    return this.show(accountId);
  }

  async #readQuote(accountId: string, planId: string, atMs: number) {
    const quote = await this.subscriptions.quote(accountId, planId, atMs);
    if (quote.type === 'refused') throw refusal(quote.why);
    return { quote, debt: await readDebt(this.#database, accountId) };
  }

  async #payByCard(payer: Payer, sale: { order: PlanOrder; amount: Nanos; methodRef: string | undefined; nowMs: number }) {
    const payment =
      sale.methodRef === undefined ? await this.#begin(payer, sale) : await this.#charge(payer, { ...sale, methodRef: sale.methodRef });
    if (payment.status === 'failed') throw new ApiError('conflict', `The card was not charged: ${payment.reason}.`);
    if (payment.status === 'paid' && payment.reason !== '')
      throw new ApiError('conflict', `Your payment was taken, but ${payment.reason}.`);
    return { done: payment.status === 'paid', address: payment.address, paymentId: payment.id };
  }

  async #begin(payer: Payer, { order: planOrder, amount, nowMs }: { order: PlanOrder; amount: Nanos; nowMs: number }): Promise<PaymentRow> {
    const result = await this.#payments.start({ payer, amount, provider: 'stripe', savesCard: true, planOrder, nowMs });
    if (result.type === 'refused') throw new ApiError('conflict', startMessage(result.why, this.#payments.rules));
    return result.payment;
  }

  async #charge(payer: Payer, sale: { order: PlanOrder; amount: Nanos; methodRef: string; nowMs: number }): Promise<PaymentRow> {
    const { order: planOrder, amount, methodRef, nowMs } = sale;
    const payment = await this.#payments.charge({ payer, amount, purpose: 'plan', methodRef, planOrder, nowMs });
    if (payment === undefined)
      throw new ApiError(
        'conflict',
        'Your card was not charged now: a charge for a plan is running, or your plan or account has changed. Reload the page.',
      );
    return payment;
  }

  /** Refuses cards of other accounts. */
  async #requireCard(accountId: string, wanted: string): Promise<void> {
    const cards = (await this.#payments.driver('stripe')?.cards?.list(accountId)) ?? [];
    if (!cards.some(({ methodRef }) => methodRef === wanted)) throw new ApiError('invalid', 'Card not found.', 'methodRef');
  }
}

function refusal(why: OrderRefusal): ApiError {
  return new ApiError(why === 'quote_expired' ? why : 'conflict', ORDER_REFUSALS[why]);
}
