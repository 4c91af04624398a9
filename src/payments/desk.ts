import { sql, type Kysely } from 'kysely';
import { differences, recordAudit } from '../accounts/audit.ts';
import type { PlanOrder } from '../accounts/plan-orders.ts';
import type { Tables } from '../database/tables.ts';
import { inTransaction } from '../database/in-transaction.ts';
import { makeId } from '../ids.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { creditPayment, type CreditResult } from './credit-payment.ts';
import {
  chargeCentsFor,
  CURRENCY,
  findAmountProblem,
  fromCents,
  UNFINISHED,
  type AmountProblem,
  type DriverAnswer,
  type PaymentDriver,
  type PaymentOrder,
  type PaymentRow,
  type PaymentRules,
  type ProviderName,
} from './payments.ts';
import { readReference } from './manual.ts';
import { recordAttempt, recordCharge, type ChargeRow } from './record-attempt.ts';
import { isStillWanted } from './still-wanted.ts';

/** The account that pays. */
export interface Payer {
  readonly accountId: string;
  readonly email: string;
}

/** A payment that the payer completes interactively. */
export interface PaymentRequest {
  readonly payer: Payer;
  readonly amount: Nanos;
  readonly provider: ProviderName;
  readonly savesCard?: boolean | undefined;
  /** The plan order that it pays for; undefined for a top-up. */
  readonly planOrder?: PlanOrder | undefined;
  readonly nowMs: number;
}

/** A charge of a saved card, without the payer. */
export interface ChargeRequest {
  /** Set if a retry must find the same payment. */
  readonly paymentId?: string | undefined;
  readonly payer: Payer;
  readonly amount: Nanos;
  readonly purpose: 'auto_top_up' | 'plan';
  readonly methodRef: string;
  readonly planOrder?: PlanOrder | undefined;
  readonly nowMs: number;
}

/** Why a payment was not started. */
export type StartRefusal = AmountProblem | 'no_such_provider' | 'too_many_tries';

/** The result of starting a payment. */
export type StartResult =
  | { readonly type: 'started'; readonly payment: PaymentRow }
  | { readonly type: 'refused'; readonly why: StartRefusal };

/** Payments are not polled sooner: while the payer is busy, the webhook is faster anyway. */
const ASK_AFTER_MS = 30_000n;

/**
 * Starts payments and follows them to their end. The row is written before the provider is called. Afterwards it changes only on reports
 * from the provider.
 */
export class PaymentDesk {
  readonly rules: PaymentRules;
  readonly #database: Kysely<Tables>;
  readonly #drivers: ReadonlyMap<string, PaymentDriver>;

  constructor(database: Kysely<Tables>, drivers: readonly PaymentDriver[], rules: PaymentRules) {
    this.#database = database;
    this.#drivers = new Map(drivers.map((driver) => [driver.name, driver]));
    this.rules = rules;
  }

  /** The configured payment providers. */
  get providers(): readonly ProviderName[] {
    return [...this.#drivers.values()].map(({ name }) => name);
  }

  driver(name: string): PaymentDriver | undefined {
    return this.#drivers.get(name);
  }

  /** Starts a payment: a top-up, or the price of a plan, for which only the provider's minimum applies. */
  async start(request: PaymentRequest): Promise<StartResult> {
    const { amount, planOrder, provider, nowMs, payer } = request;
    const driver = this.driver(provider);
    if (driver === undefined) return { type: 'refused', why: 'no_such_provider' };
    const problem = planOrder === undefined ? findAmountProblem(amount, this.rules) : undefined;
    if (problem !== undefined) return { type: 'refused', why: problem };
    const id = makeId('pay', nowMs);
    const reference = driver.referenceOf?.(id);
    const row = {
      ...newRow(id, request, { purpose: planOrder === undefined ? 'top_up' : 'plan' }),
      ...(reference !== undefined && { status: 'open' as const, provider_ref: reference }),
    };
    if (!(await recordAttempt(this.#database, row, nowMs))) return { type: 'refused', why: 'too_many_tries' };
    await this.#apply(row.id, await driver.begin(toOrder(await this.require(row.id), payer.email)), nowMs);
    return { type: 'started', payment: await this.require(row.id) };
  }

  /** Charges a saved card. Returns undefined if such a charge is already running, or not wanted any more. */
  async charge(request: ChargeRequest): Promise<PaymentRow | undefined> {
    const id = request.paymentId ?? makeId('pay', request.nowMs);
    const cards = this.driver('stripe')?.cards;
    if (cards === undefined) return undefined;
    const row = newRow(id, { ...request, provider: 'stripe' }, { purpose: request.purpose, methodRef: request.methodRef });
    if (!(await recordCharge(this.#database, row))) return undefined;
    await this.#apply(id, await cards.charge(toOrder(await this.require(id), request.payer.email)), request.nowMs);
    return this.require(id);
  }

  /** Asks the provider for the state of a payment and applies it. */
  async poll(payment: PaymentRow, nowMs: number): Promise<PaymentRow> {
    const driver = this.driver(payment.provider);
    // A payment that ended before the provider gave it an id is left alone: asking would repeat the request and so make the payment now.
    const endedWithoutReference =
      payment.session_ref === null && payment.provider_ref === null && !UNFINISHED.some((open) => open === payment.status);
    if (driver?.poll === undefined || endedWithoutReference) return payment;
    const { email } = await this.#database
      .selectFrom('accounts')
      .select('email')
      .where('id', '=', payment.account_id)
      .executeTakeFirstOrThrow();
    const isUnwanted = payment.method_ref !== null && !(await isStillWanted(this.#database, payment));
    await this.#apply(payment.id, await driver.poll({ ...toOrder(payment, email), isUnwanted }), nowMs);
    return this.require(payment.id);
  }

  /** Returns the unfinished payments that are due for polling: often at first, then less and less. */
  async unfinished(nowMs: number, rowsMax: number): Promise<PaymentRow[]> {
    const pollable = [...this.#drivers.values()].filter((driver) => driver.poll !== undefined).map(({ name }) => name);
    if (pollable.length === 0) return [];
    const now = BigInt(nowMs);
    return this.#database
      .selectFrom('payments')
      .selectAll()
      .where('status', 'in', UNFINISHED)
      .where('provider', 'in', pollable)
      .where('asked_at', '<=', now - ASK_AFTER_MS)
      .where(sql<boolean>`(${now} - asked_at) * 4 >= asked_at - created_at`)
      .orderBy('asked_at')
      .limit(rowsMax)
      .execute();
  }

  async find(id: string): Promise<PaymentRow | undefined> {
    return this.#database.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns the payment with this bank transfer reference. */
  async findByReference(reference: string): Promise<PaymentRow | undefined> {
    return this.#database
      .selectFrom('payments')
      .selectAll()
      .where('provider', '=', 'manual')
      .where('provider_ref', '=', readReference(reference))
      .executeTakeFirst();
  }

  async require(id: string): Promise<PaymentRow> {
    return this.#database.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  /** Credits a bank transfer that `actor` confirms. The amount must be exactly the requested one. */
  async confirm(payment: PaymentRow, cents: number, nowMs: number, actor: string): Promise<CreditResult> {
    const { id: paymentId, account_id: accountId, provider_ref: ref } = payment;
    const facts = { provider: 'manual', paymentId, accountId, providerRef: ref ?? '', cents, currency: CURRENCY } as const;
    return inTransaction(this.#database, async (transaction) => {
      const result = await creditPayment(transaction, facts, nowMs);
      const changes = differences({}, { usd: formatUsd(fromCents(cents)), reference: facts.providerRef });
      if (result.type === 'credited') await recordAudit(transaction, { actor, action: 'payment.confirm', subject: payment.id, changes });
      return result;
    });
  }

  /** Ends a payment that will not arrive. Returns false if it has ended already. */
  async refuse(payment: PaymentRow, reason: string, actor: string): Promise<boolean> {
    return inTransaction(this.#database, async (transaction) => {
      const isEnded = await failPayment(transaction, payment.id, { status: 'failed', reason });
      const changes = differences({}, { reason });
      if (isEnded) await recordAudit(transaction, { actor, action: 'payment.refuse', subject: payment.id, changes });
      return isEnded;
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
        await failPayment(this.#database, paymentId, { status: 'expired', reason: answer.reason ?? '' });
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

  /** Credits a payment that polling found paid. It is checked like a webhook event, and a mismatch is recorded in the same table. */
  async #credit({ facts }: Extract<DriverAnswer, { type: 'paid' }>, nowMs: number): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
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

/** Ends an unfinished payment without crediting it. A declined card ends automatic top-ups with it: it would be declined again and again. */
export async function failPayment(
  database: Kysely<Tables>,
  paymentId: string,
  { status, reason }: { readonly status: 'failed' | 'expired'; readonly reason: string },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const failed = await transaction
      .updateTable('payments')
      .set({ status, reason })
      .where('id', '=', paymentId)
      .where('status', 'in', UNFINISHED)
      .returning(['account_id', 'purpose', 'method_ref'])
      .executeTakeFirst();
    if (failed?.purpose === 'auto_top_up' && status === 'failed')
      await transaction
        .updateTable('auto_top_ups')
        .set({ is_on: 0, reason: `the card was not charged: ${reason}`, updated_at: Date.now() })
        .where('account_id', '=', failed.account_id)
        .where('method_ref', '=', failed.method_ref)
        .where('is_on', '=', 1n)
        .execute();
    return failed !== undefined;
  });
}

type NewPayment = Pick<PaymentRequest, 'payer' | 'amount' | 'provider' | 'savesCard' | 'planOrder' | 'nowMs'>;

/** Builds the row of a payment. The amount is rounded up to whole cents, and the difference is credited too. */
function newRow(
  id: string,
  { payer, amount, provider, savesCard, planOrder, nowMs }: NewPayment,
  { purpose, methodRef }: { readonly purpose: PaymentRow['purpose']; readonly methodRef?: string },
): ChargeRow {
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
