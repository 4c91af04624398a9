import type { Kysely } from 'kysely';
import { Subscriptions } from '../../accounts/subscriptions.ts';
import { readGrants, readWallet, sumGrants } from '../../ledger/credit.ts';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { Tables } from '../../database/tables.ts';
import { AutoTopUps } from '../../payments/auto-top-up.ts';
import type { PaymentDesk } from '../../payments/desk.ts';
import { findAmountProblem, type Card, type PaymentRow } from '../../payments/payments.ts';
import type { MoneyIn } from '../../payments/open.ts';
import { ApiError } from '../api-error.ts';
import { describeAutoTopUp, describePayment } from './describe-payment.ts';

const PAYMENTS_MAX = 100;
const SOURCES_MAX = 100;
/** While a payer waits, the provider is asked this often, in case its event is late. */
const ASK_AGAIN_MS = 3000;

/** How an account uses its plan's credit: before other credit, after it, or exclusively. Null without a plan. */
type PlanUse = 'plan' | 'balance' | 'stop' | null;

/** Everything the billing page shows and does. */
export class BillingDesk {
  readonly payments: PaymentDesk;
  readonly autoTopUps: AutoTopUps;
  readonly #database: Kysely<Tables>;
  readonly #money: MoneyIn;

  constructor(database: Kysely<Tables>, money: MoneyIn) {
    this.#database = database;
    this.#money = money;
    this.payments = money.desk;
    this.autoTopUps = new AutoTopUps(database, money.desk);
  }

  /** Returns the balance, its sources in the order of use, and the ways to add money. */
  async show(accountId: string) {
    const { balance, held, available, hasHadCredit } = await readWallet(this.#database, accountId);
    const { rules, providers } = this.payments;
    const planUse = await this.#readPlanUse(accountId);
    return {
      balanceUsd: formatUsd(balance),
      heldUsd: formatUsd(held),
      availableUsd: formatUsd(available),
      /** True if the account ever had credit, even if none is left. */
      hasHadCredit,
      ...(await this.#listSources(accountId, planUse)),
      planUse,
      bonuses: await this.#listBonuses(accountId),
      hasCards: providers.includes('stripe'),
      /** The instructions for bank transfers; null if they are not offered. */
      bankTransfer: providers.includes('manual') ? (this.#money.bankTransfer ?? '') : null,
      minimumUsd: formatUsd(rules.minimum),
      maximumUsd: formatUsd(rules.maximum),
      // With a minimum of their own, operators may leave the default presets as they are.
      presetsUsd: rules.presets.filter((amount) => findAmountProblem(amount, rules) === undefined).map(formatUsd),
    };
  }

  async listPayments(accountId: string, rowsMax: number = PAYMENTS_MAX) {
    const rows = await this.#database
      .selectFrom('payments')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(rowsMax)
      .execute();
    return rows.map(describePayment);
  }

  /** Returns the state of a payment. Asks the provider about a pending one, so that a late event does not delay the payer. */
  async follow(accountId: string, id: string, nowMs: number) {
    const payment = await this.#requirePayment(accountId, id);
    const isWaiting = payment.status === 'open' || payment.status === 'unknown';
    if (!isWaiting || Number(payment.asked_at) > nowMs - ASK_AGAIN_MS) return describePayment(payment);
    return describePayment(await this.payments.poll(payment, nowMs));
  }

  async receiptUrl(accountId: string, id: string): Promise<string> {
    const { provider, provider_ref: ref } = await this.#requirePayment(accountId, id);
    const url = ref === null ? undefined : await this.payments.driver(provider)?.receiptUrl?.(ref);
    if (url === undefined) throw new ApiError('not_found', 'This payment has no receipt.');
    return url;
  }

  async listCards(accountId: string): Promise<readonly Card[]> {
    return (await this.payments.driver('stripe')?.cards?.list(accountId)) ?? [];
  }

  /** Removes a card. Automatic top-ups that use it end, and a plan that uses it falls back to another card. */
  async removeCard(accountId: string, methodRef: string, nowMs: number): Promise<void> {
    if (!((await this.payments.driver('stripe')?.cards?.remove(accountId, methodRef)) ?? false))
      throw new ApiError('not_found', 'Card not found.');
    const auto = await this.autoTopUps.find(accountId, nowMs);
    if (auto?.isOn === true && auto.methodRef === methodRef) await this.autoTopUps.switchOff(accountId, 'the card was removed', nowMs);
    await this.#database
      .updateTable('subscriptions')
      .set({ method_ref: null })
      .where('account_id', '=', accountId)
      .where('method_ref', '=', methodRef)
      .execute();
  }

  async showAutoTopUp(accountId: string, nowMs: number) {
    const auto = await this.autoTopUps.find(accountId, nowMs);
    return auto === undefined ? null : describeAutoTopUp(auto);
  }

  async #requirePayment(accountId: string, id: string): Promise<PaymentRow> {
    const payment = await this.payments.find(id);
    if (payment?.account_id !== accountId) throw new ApiError('not_found', 'Payment not found.');
    return payment;
  }

  async #readPlanUse(accountId: string): Promise<PlanUse> {
    const subscription = await new Subscriptions(this.#database).find(accountId);
    if (subscription === undefined) return null;
    return subscription.plan.overflow === 'stop' ? 'stop' : subscription.useFirst;
  }

  /** Lists the credit that is left: the first of it one by one, the rest as a sum. */
  async #listSources(accountId: string, planUse: PlanUse) {
    const grants = await readGrants(this.#database, accountId, SOURCES_MAX);
    const sources = grants.map(({ id, kind, amount, remaining, expires_at: expires, created_at: created }, index) => ({
      id,
      /** The position in the order of use; null if the plan prevents its use. */
      order: planUse === 'stop' && kind !== 'plan' ? null : index + 1,
      kind,
      amountUsd: formatUsd(asNanos(amount)),
      leftUsd: formatUsd(asNanos(remaining)),
      expiresAtMs: expires === null ? null : Number(expires),
      createdAtMs: Number(created),
    }));
    if (grants.length < SOURCES_MAX) return { sources, moreSources: null };
    const all = await sumGrants(this.#database, accountId);
    const left = grants.reduce((sum, { remaining }) => sum - remaining, all.left as bigint);
    const more = { count: all.count - grants.length, leftUsd: formatUsd(asNanos(left)) };
    return { sources, moreSources: more.count > 0 ? more : null };
  }

  /** Lists bonuses that apply to the next top-up. */
  async #listBonuses(accountId: string) {
    const rows = await this.#database
      .selectFrom('promo_redemptions')
      .innerJoin('promo_codes', 'promo_codes.id', 'promo_redemptions.code_id')
      .select(['promo_codes.percent', 'promo_codes.amount', 'promo_codes.minimum_top_up'])
      .where('account_id', '=', accountId)
      .where('state', '=', 'waiting')
      .orderBy('promo_redemptions.created_at')
      .execute();
    return rows.map(({ percent, amount, minimum_top_up: minimum }) => ({
      percent: Number(percent ?? 0n),
      maxUsd: formatUsd(asNanos(amount ?? 0n)),
      minimumUsd: formatUsd(asNanos(minimum)),
    }));
  }
}
