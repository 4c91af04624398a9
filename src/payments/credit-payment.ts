import type { Kysely, Selectable } from 'kysely';
import { carryOut, type OrderResult, type PlanOrder } from '../accounts/plan-orders.ts';
import { giveBonus } from '../accounts/redeem.ts';
import type { Tables } from '../database/tables.ts';
import { moneyId, postCredit } from '../ledger/credit.ts';
import { asNanos } from '../ledger/money.ts';
import { clearingOf } from './clearing.ts';
import { CURRENCY, type PaidFacts } from './payments.ts';
import { lockCharge, reversePayment } from './reverse-payment.ts';

/** A payment as it is stored. */
export type PaymentRow = Selectable<Tables['payments']>;

/** What became of the news that a payment was made. */
export type CreditResult =
  | { readonly type: 'credited' | 'repeated' }
  /** It does not fit what we asked for: nothing is credited, and the operator is told. */
  | { readonly type: 'refused'; readonly reason: string };

/**
 * Credits a payment that was made, once, with everything that hangs on it: the bonus of a code, the plan it was for, and what was
 * refunded before we heard of the payment. All in the caller's transaction.
 */
export async function creditPayment(transaction: Kysely<Tables>, facts: PaidFacts, nowMs: number): Promise<CreditResult> {
  await lockCharge(transaction, facts.providerRef);
  const payment = await lockPayment(transaction, facts.paymentId);
  if (payment === undefined) return { type: 'refused', reason: 'there is no such payment here' };
  const difference = findDifference(payment, facts) ?? (await findOtherUse(transaction, facts));
  if (difference !== undefined) return { type: 'refused', reason: difference };
  if (payment.status === 'paid') return { type: 'repeated' };
  const source = `${facts.provider}:${facts.providerRef}`;
  await transaction
    .updateTable('payments')
    .set({
      status: 'paid',
      provider_ref: facts.providerRef,
      session_ref: payment.session_ref ?? facts.sessionRef ?? null,
      transfer_id: moneyId(source),
      paid_at: nowMs,
      reason: '',
    })
    .where('id', '=', payment.id)
    .execute();
  await postCredit(transaction, {
    accountId: payment.account_id,
    amount: asNanos(payment.amount),
    house: clearingOf(facts.provider),
    kind: 'paid',
    source,
    reason: REASONS[payment.purpose],
    atMs: nowMs,
  });
  if (await isClosed(transaction, payment.account_id)) await setReason(transaction, payment, CLOSED);
  else await addWhatHangsOnIt(transaction, payment, nowMs);
  await reversePayment(transaction, facts.providerRef, { trigger: 'paid', nowMs });
  return { type: 'credited' };
}

const REASONS: Readonly<Record<PaymentRow['purpose'], string>> = {
  top_up: 'top-up',
  auto_top_up: 'automatic top-up',
  plan: 'payment for a plan',
};

/** For the operator: nobody is there to spend it. */
const CLOSED = 'the account was closed before it was paid: refund it';

async function isClosed(transaction: Kysely<Tables>, accountId: string): Promise<boolean> {
  const account = await transaction.selectFrom('accounts').select('closed_at').where('id', '=', accountId).executeTakeFirstOrThrow();
  return account.closed_at !== null;
}

async function setReason(transaction: Kysely<Tables>, { id }: PaymentRow, reason: string): Promise<void> {
  await transaction.updateTable('payments').set({ reason }).where('id', '=', id).execute();
}

async function addWhatHangsOnIt(transaction: Kysely<Tables>, payment: PaymentRow, nowMs: number): Promise<void> {
  if (payment.purpose !== 'plan') await addBonus(transaction, payment, nowMs);
  if (payment.plan_order !== null) await buyPlan(transaction, payment, nowMs);
}

/** Reads a payment and keeps it as it is until the transaction ends. An update, which locks on both databases. */
async function lockPayment(transaction: Kysely<Tables>, id: string): Promise<PaymentRow | undefined> {
  return transaction
    .updateTable('payments')
    .set((expression) => ({ asked_at: expression.ref('asked_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Nothing is credited that was not asked for in just this way. */
function findDifference(payment: PaymentRow, facts: PaidFacts): string | undefined {
  if (payment.provider !== facts.provider) return `it was to be paid by ${payment.provider}`;
  if (payment.account_id !== facts.accountId) return 'it belongs to another account';
  if (facts.currency !== CURRENCY) return `it was paid in ${facts.currency} instead of ${CURRENCY}`;
  if (Number(payment.charge_cents) !== facts.cents) return `${facts.cents} cents were paid instead of ${payment.charge_cents}`;
  if (payment.session_ref !== null && facts.sessionRef !== undefined && payment.session_ref !== facts.sessionRef)
    return 'it was paid in a session that is not its own';
  if (payment.provider_ref !== null && payment.provider_ref !== facts.providerRef) return 'it was paid before, by another charge';
  return undefined;
}

async function findOtherUse(transaction: Kysely<Tables>, facts: PaidFacts): Promise<string | undefined> {
  const other = await transaction.selectFrom('payments').select('id').where('provider_ref', '=', facts.providerRef).executeTakeFirst();
  return other === undefined || other.id === facts.paymentId ? undefined : `the same charge has paid for ${other.id}`;
}

async function addBonus(transaction: Kysely<Tables>, payment: PaymentRow, nowMs: number): Promise<void> {
  const bonus = await giveBonus(transaction, { paymentId: payment.id, accountId: payment.account_id, amount: payment.amount, nowMs });
  if (bonus > 0n) await transaction.updateTable('payments').set({ bonus }).where('id', '=', payment.id).execute();
}

/** The money is in the balance now, and stays there should the plan not be had any more. */
async function buyPlan(transaction: Kysely<Tables>, payment: PaymentRow, nowMs: number): Promise<void> {
  const order = JSON.parse(payment.plan_order ?? '') as PlanOrder;
  const result = await carryOut(transaction, order, {
    accountId: payment.account_id,
    nowMs,
    paysBy: 'card',
    methodRef: payment.method_ref ?? undefined,
    cameIn: asNanos(payment.amount),
  });
  if (result.type === 'done') return;
  await setReason(transaction, payment, `the money stays in the balance: ${explainOrder(result)}`);
}

function explainOrder(result: Exclude<OrderResult, { type: 'done' }>): string {
  return result.type === 'refused' ? `the plan could not be had (${result.why})` : 'a debt was paid first, and the rest is too little';
}
