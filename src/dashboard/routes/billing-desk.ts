import type { Kysely } from 'kysely';
import { Subscriptions } from '../../accounts/subscriptions.ts';
import { readGrants, readWallet } from '../../ledger/credit.ts';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { Tables } from '../../database/tables.ts';
import { AutoTopUps } from '../../payments/auto-top-up.ts';
import type { PaymentRow } from '../../payments/credit-payment.ts';
import type { PaymentDesk } from '../../payments/desk.ts';
import type { Card } from '../../payments/payments.ts';
import type { MoneyIn } from '../../payments/open.ts';
import { ApiError } from '../api-error.ts';
import { describeAutoTopUp, describePayment } from './describe-payment.ts';

const PAYMENTS_MAX = 100;
/** While a payer waits for a payment, the provider is asked this often, should its event be late. */
const ASK_AGAIN_MS = 3000;

/** How an account uses the credit of its plan: before the rest, after it, or alone. Null without a plan. */
type PlanUse = 'plan' | 'balance' | 'stop' | null;

/** What the page about billing shows and does. */
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

  /** The balance and what it is made of, in the order in which it is used; and how money can be added. */
  async show(accountId: string) {
    const { balance, held, available, hasHadCredit } = await readWallet(this.#database, accountId);
    const { rules, providers } = this.payments;
    const planUse = await this.#readPlanUse(accountId);
    return {
      balanceUsd: formatUsd(balance),
      heldUsd: formatUsd(held),
      availableUsd: formatUsd(available),
      /** True as soon as there was any credit, though nothing of it may be left. */
      hasHadCredit,
      sources: await this.#listSources(accountId, planUse),
      planUse,
      bonuses: await this.#listBonuses(accountId),
      hasCards: providers.includes('stripe'),
      /** What somebody who pays by bank transfer is told; null where that is not offered. */
      bankTransfer: providers.includes('manual') ? (this.#money.bankTransfer ?? '') : null,
      minimumUsd: formatUsd(rules.minimum),
      maximumUsd: formatUsd(rules.maximum),
      presetsUsd: rules.presets.map(formatUsd),
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

  /** How a payment stands. One that somebody waits for is asked for, so that a late event delays nobody. */
  async follow(accountId: string, id: string, nowMs: number) {
    const payment = await this.#requirePayment(accountId, id);
    const isWaiting = payment.status === 'open' || payment.status === 'unknown';
    if (!isWaiting || Number(payment.asked_at) > nowMs - ASK_AGAIN_MS) return describePayment(payment);
    return describePayment(await this.payments.ask(payment, nowMs));
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

  /** A card that is gone cannot be charged: automatic top-ups with it end, and plans look for another one. */
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

  /** Credit that is left. */
  async #listSources(accountId: string, planUse: PlanUse) {
    const grants = await readGrants(this.#database, accountId);
    return grants.map(({ id, kind, amount, remaining, expires_at: expires, created_at: created }, index) => ({
      id,
      /** Its place in the order of use; null where the plan keeps it from being used. */
      order: planUse === 'stop' && kind !== 'plan' ? null : index + 1,
      kind,
      amountUsd: formatUsd(asNanos(amount)),
      leftUsd: formatUsd(asNanos(remaining)),
      expiresAtMs: expires === null ? null : Number(expires),
      createdAtMs: Number(created),
    }));
  }

  /** Bonuses that wait for a top-up. */
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
