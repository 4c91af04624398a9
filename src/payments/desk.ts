import { sql, type Insertable, type Kysely } from 'kysely';
import { differences, recordAudit } from '../accounts/audit.ts';
import type { PlanOrder } from '../accounts/plan-orders.ts';
import type { Tables } from '../database/tables.ts';
import { within } from '../database/within.ts';
import { makeId } from '../ids.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { creditPayment, type CreditResult, type PaymentRow } from './credit-payment.ts';
import {
  chargeCentsFor,
  CURRENCY,
  findAmountProblem,
  fromCents,
  type AmountProblem,
  type DriverAnswer,
  type PaymentDriver,
  type PaymentOrder,
  type PaymentRules,
  type ProviderName,
} from './payments.ts';
import { writeTry } from './write-try.ts';

/** Who pays. */
export interface Payer {
  readonly accountId: string;
  readonly email: string;
}

/** A payment for which the payer is there. */
export interface PaymentRequest {
  readonly payer: Payer;
  readonly amount: Nanos;
  readonly provider: ProviderName;
  readonly savesCard?: boolean | undefined;
  /** What is bought with it, where it is not a top-up. */
  readonly planOrder?: PlanOrder | undefined;
  readonly nowMs: number;
}

/** A charge of a saved card, for which nobody is there. */
export interface ChargeRequest {
  /** Given where a repetition must meet the same payment. */
  readonly paymentId?: string | undefined;
  readonly payer: Payer;
  readonly amount: Nanos;
  readonly purpose: 'auto_top_up' | 'plan';
  readonly methodRef: string;
  readonly planOrder?: PlanOrder | undefined;
  /** Asked within the transaction that writes the row: false takes it back, and nothing is charged. */
  readonly isWanted?: ((transaction: Kysely<Tables>) => Promise<boolean>) | undefined;
  readonly nowMs: number;
}

/** Why a payment was not begun. */
export type StartRefusal = AmountProblem | 'no_such_provider' | 'too_many_tries';

export type StartResult =
  | { readonly type: 'started'; readonly payment: PaymentRow }
  | { readonly type: 'refused'; readonly why: StartRefusal };

/** A payment is not asked for sooner: while its payer is busy with it, the webhook is quicker anyway. */
const ASK_AFTER_MS = 30_000n;
/** States of a payment that has not ended. */
export const UNFINISHED = ['created', 'open', 'unknown'] as const;

/** Begins payments and follows them to their end. The row is written before a provider hears of a payment; only news of the provider change it. */
export class PaymentDesk {
  readonly rules: PaymentRules;
  readonly #database: Kysely<Tables>;
  readonly #drivers: ReadonlyMap<string, PaymentDriver>;

  constructor(database: Kysely<Tables>, drivers: readonly PaymentDriver[], rules: PaymentRules) {
    this.#database = database;
    this.#drivers = new Map(drivers.map((driver) => [driver.name, driver]));
    this.rules = rules;
  }

  /** The ways to pay that there are. */
  get providers(): readonly ProviderName[] {
    return [...this.#drivers.values()].map(({ name }) => name);
  }

  driver(name: string): PaymentDriver | undefined {
    return this.#drivers.get(name);
  }

  /** Begins a payment: a top-up, or the price of a plan, which has no minimum but the provider's. */
  async start(request: PaymentRequest): Promise<StartResult> {
    const { amount, planOrder, provider, nowMs, payer } = request;
    const driver = this.driver(provider);
    if (driver === undefined) return { type: 'refused', why: 'no_such_provider' };
    const problem = planOrder === undefined ? findAmountProblem(amount, this.rules) : undefined;
    if (problem !== undefined) return { type: 'refused', why: problem };
    const row = newRow(makeId('pay', nowMs), request, { purpose: planOrder === undefined ? 'top_up' : 'plan' });
    if (!(await writeTry(this.#database, row, nowMs))) return { type: 'refused', why: 'too_many_tries' };
    await this.#apply(row.id, await driver.begin(toOrder(await this.require(row.id), payer.email)), nowMs);
    return { type: 'started', payment: await this.require(row.id) };
  }

  /** Charges a saved card; undefined when such a payment is under way already. */
  async charge(request: ChargeRequest): Promise<PaymentRow | undefined> {
    const id = request.paymentId ?? makeId('pay', request.nowMs);
    const cards = this.driver('stripe')?.cards;
    if (cards === undefined) return undefined;
    const row = newRow(id, { ...request, provider: 'stripe' }, { purpose: request.purpose, methodRef: request.methodRef });
    if (!(await this.#reserve(row, request.isWanted))) return undefined;
    await this.#apply(id, await cards.charge(toOrder(await this.require(id), request.payer.email)), request.nowMs);
    return this.require(id);
  }

  /** Asks the provider how a payment stands, and does what follows. */
  async ask(payment: PaymentRow, nowMs: number): Promise<PaymentRow> {
    const driver = this.driver(payment.provider);
    // A payment that ended before its provider named it is left alone: to ask for it means to repeat the request, which would make it now.
    const isUnheard = payment.session_ref === null && payment.provider_ref === null && !UNFINISHED.some((open) => open === payment.status);
    if (driver?.ask === undefined || isUnheard) return payment;
    const { email, status, is_on } = await this.#database
      .selectFrom('accounts')
      .leftJoin('auto_top_ups', 'auto_top_ups.account_id', 'accounts.id')
      .select(['accounts.email', 'accounts.status', 'auto_top_ups.is_on'])
      .where('accounts.id', '=', payment.account_id)
      .executeTakeFirstOrThrow();
    const isUnwanted = status !== 'active' || (payment.purpose === 'auto_top_up' && is_on !== 1n);
    await this.#apply(payment.id, await driver.ask({ ...toOrder(payment, email), isUnwanted }), nowMs);
    return this.require(payment.id);
  }

  /** The payments without an end that it is time to ask for: soon at first, and less and less often. */
  async unfinished(nowMs: number, rowsMax: number): Promise<PaymentRow[]> {
    const answering = [...this.#drivers.values()].filter((driver) => driver.ask !== undefined).map(({ name }) => name);
    if (answering.length === 0) return [];
    const now = BigInt(nowMs);
    return this.#database
      .selectFrom('payments')
      .selectAll()
      .where('status', 'in', UNFINISHED)
      .where('provider', 'in', answering)
      .where('asked_at', '<=', now - ASK_AFTER_MS)
      .where(sql<boolean>`(${now} - asked_at) * 4 >= asked_at - created_at`)
      .orderBy('asked_at')
      .limit(rowsMax)
      .execute();
  }

  async find(id: string): Promise<PaymentRow | undefined> {
    return this.#database.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** The payment whose transfer carries this reference. */
  async findByReference(reference: string): Promise<PaymentRow | undefined> {
    return this.#database
      .selectFrom('payments')
      .selectAll()
      .where('provider', '=', 'manual')
      .where('provider_ref', '=', reference.trim().toUpperCase())
      .executeTakeFirst();
  }

  async require(id: string): Promise<PaymentRow> {
    return this.#database.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  /** Credits a bank transfer that has come, of just the amount that was asked for. `actor` says that it has. */
  async confirm(payment: PaymentRow, cents: number, nowMs: number, actor: string): Promise<CreditResult> {
    const { id: paymentId, account_id: accountId, provider_ref: ref } = payment;
    const facts = { provider: 'manual', paymentId, accountId, providerRef: ref ?? '', cents, currency: CURRENCY } as const;
    return this.#database.transaction().execute(async (transaction) => {
      const result = await creditPayment(transaction, facts, nowMs);
      const changes = differences({}, { usd: formatUsd(fromCents(cents)), reference: facts.providerRef });
      if (result.type === 'credited') await recordAudit(transaction, { actor, action: 'payment.confirm', subject: payment.id, changes });
      return result;
    });
  }

  /** Ends a payment that will not come. False when it is over already. */
  async refuse(payment: PaymentRow, reason: string, actor: string): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const isEnded = await failPayment(transaction, payment.id, { status: 'failed', reason });
      const changes = differences({}, { reason });
      if (isEnded) await recordAudit(transaction, { actor, action: 'payment.refuse', subject: payment.id, changes });
      return isEnded;
    });
  }

  /** Writes the row of a charge. False when there is one already, or when with it something would be too much. */
  async #reserve(row: Insertable<Tables['payments']>, isWanted: ChargeRequest['isWanted']): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const inserted = await transaction
        .insertInto('payments')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
      if (isWanted === undefined || (await isWanted(transaction))) return true;
      await transaction.deleteFrom('payments').where('id', '=', row.id).execute();
      return false;
    });
  }

  async #apply(paymentId: string, answer: DriverAnswer, nowMs: number): Promise<void> {
    switch (answer.type) {
      case 'paid':
        await this.#credit(answer, nowMs);
        return;
      case 'failed':
        await failPayment(this.#database, paymentId, { status: 'failed', reason: answer.reason });
        return;
      case 'expired':
        await failPayment(this.#database, paymentId, { status: 'expired', reason: '' });
        return;
      case 'open':
        await this.#keepOpen(paymentId, answer, nowMs);
        return;
      case 'unknown':
        await this.#database
          .updateTable('payments')
          .set((expression) => ({
            status: expression
              .case()
              .when('status', '=', 'created')
              .then('unknown' as const)
              .else(expression.ref('status'))
              .end(),
            asked_at: nowMs,
          }))
          .where('id', '=', paymentId)
          .where('status', 'in', UNFINISHED)
          .execute();
    }
  }

  async #keepOpen(
    paymentId: string,
    { sessionRef, providerRef, address }: Extract<DriverAnswer, { type: 'open' }>,
    nowMs: number,
  ): Promise<void> {
    await this.#database
      .updateTable('payments')
      .set({
        status: 'open',
        asked_at: nowMs,
        ...(sessionRef !== undefined && { session_ref: sessionRef }),
        ...(providerRef !== undefined && { provider_ref: providerRef }),
        ...(address !== undefined && { address }),
      })
      .where('id', '=', paymentId)
      .where('status', 'in', UNFINISHED)
      .execute();
  }

  /** What the provider says when it is asked is checked like what it says by itself, and a contradiction is kept in the same place. */
  async #credit({ facts }: Extract<DriverAnswer, { type: 'paid' }>, nowMs: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const result = await creditPayment(transaction, facts, nowMs);
      if (result.type !== 'refused') return;
      await transaction
        .insertInto('webhook_events')
        .values({
          event_id: `asked:${facts.paymentId}`,
          provider: facts.provider,
          type: 'answer',
          outcome: 'refused',
          payment_id: facts.paymentId,
          detail: result.reason,
          created_at: nowMs,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await transaction.updateTable('payments').set({ asked_at: nowMs }).where('id', '=', facts.paymentId).execute();
    });
  }
}

/** Ends a payment without money, unless it has ended. A declined card switches automatic top-ups off: it would be declined again and again. */
export async function failPayment(
  database: Kysely<Tables>,
  paymentId: string,
  { status, reason }: { readonly status: 'failed' | 'expired'; readonly reason: string },
): Promise<boolean> {
  return within(database, async (transaction) => {
    const failed = await transaction
      .updateTable('payments')
      .set({ status, reason })
      .where('id', '=', paymentId)
      .where('status', 'in', UNFINISHED)
      .returning(['account_id', 'purpose'])
      .executeTakeFirst();
    if (failed?.purpose === 'auto_top_up')
      await transaction
        .updateTable('auto_top_ups')
        .set({ is_on: 0, reason: `the card was not charged: ${reason}`, updated_at: Date.now() })
        .where('account_id', '=', failed.account_id)
        .where('is_on', '=', 1n)
        .execute();
    return failed !== undefined;
  });
}

type NewPayment = Pick<PaymentRequest, 'payer' | 'amount' | 'provider' | 'savesCard' | 'planOrder' | 'nowMs'>;

/** What is charged above the amount, to come to whole cents, is credited as well. */
function newRow(
  id: string,
  { payer, amount, provider, savesCard, planOrder, nowMs }: NewPayment,
  { purpose, methodRef }: { readonly purpose: PaymentRow['purpose']; readonly methodRef?: string },
): Insertable<Tables['payments']> & { readonly id: string } {
  const cents = chargeCentsFor(amount);
  return {
    id,
    account_id: payer.accountId,
    provider,
    purpose,
    status: 'created',
    amount: fromCents(cents),
    charge_cents: cents,
    saves_card: savesCard === true ? 1 : 0,
    method_ref: methodRef ?? null,
    plan_order: planOrder === undefined ? null : JSON.stringify(planOrder),
    created_at: nowMs,
    asked_at: nowMs,
  };
}

const DESCRIPTIONS: Readonly<Record<PaymentRow['purpose'], string>> = {
  top_up: 'Credit for your account',
  auto_top_up: 'Credit for your account, automatic top-up',
  plan: 'Your plan',
};

function toOrder(payment: PaymentRow, email: string): PaymentOrder {
  return {
    paymentId: payment.id,
    accountId: payment.account_id,
    email,
    cents: Number(payment.charge_cents),
    description: DESCRIPTIONS[payment.purpose],
    savesCard: payment.saves_card === 1n,
    methodRef: payment.method_ref ?? undefined,
    createdAtMs: Number(payment.created_at),
    sessionRef: payment.session_ref ?? undefined,
    providerRef: payment.provider_ref ?? undefined,
  };
}
