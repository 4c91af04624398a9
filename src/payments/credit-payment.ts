import type { Kysely } from 'kysely';
import { executeOrder, type OrderResult, type PlanOrder } from '../accounts/plan-orders.ts';
import { creditBonus } from '../accounts/redeem.ts';
import type { Tables } from '../database/tables.ts';
import { moneyId, postCredit } from '../ledger/credit.ts';
import { asNanos } from '../ledger/money.ts';
import { clearingOf } from './clearing.ts';
import { CURRENCY, type PaidFacts, type PaymentRow } from './payments.ts';
import { lockCharge, reversePayment } from './reverse-payment.ts';

/** The result of crediting a payment. */
export type CreditResult =
  | { readonly type: 'credited' | 'repeated' }
  /** It does not match the request: nothing is credited, and the operator is informed. */
  | { readonly type: 'refused'; readonly reason: string };

/**
 * Credits a completed payment once, in the caller's transaction. Also adds the bonus of a promo code, buys the plan it was for, and
 * takes back refunds that were reported before the payment.
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
  else await applyBonusAndPlan(transaction, payment, nowMs);
  await reversePayment(transaction, facts.providerRef, { trigger: 'paid', nowMs });
  return { type: 'credited' };
}

const REASONS: Readonly<Record<PaymentRow['purpose'], string>> = {
  top_up: 'top-up',
  auto_top_up: 'automatic top-up',
  plan: 'payment for a plan',
};

/** Shown to the operator: nobody can spend the money. */
const CLOSED = 'the account was closed before it was paid: refund it';

async function isClosed(transaction: Kysely<Tables>, accountId: string): Promise<boolean> {
  const account = await transaction.selectFrom('accounts').select('closed_at').where('id', '=', accountId).executeTakeFirstOrThrow();
  return account.closed_at !== null;
}

async function setReason(transaction: Kysely<Tables>, { id }: PaymentRow, reason: string): Promise<void> {
  await transaction.updateTable('payments').set({ reason }).where('id', '=', id).execute();
}

async function applyBonusAndPlan(transaction: Kysely<Tables>, payment: PaymentRow, nowMs: number): Promise<void> {
  if (payment.purpose !== 'plan') await addBonus(transaction, payment, nowMs);
  if (payment.plan_order !== null) await buyPlan(transaction, payment, nowMs);
}

/** Reads and locks a payment until the transaction ends. An update locks on both databases. */
async function lockPayment(transaction: Kysely<Tables>, id: string): Promise<PaymentRow | undefined> {
  return transaction
    .updateTable('payments')
    .set((expression) => ({ asked_at: expression.ref('asked_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Compares a payment with the provider's facts. Returns how they differ; only an exact match is credited. */
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
  const bonus = await creditBonus(transaction, { paymentId: payment.id, accountId: payment.account_id, amount: payment.amount, nowMs });
  if (bonus > 0n) await transaction.updateTable('payments').set({ bonus }).where('id', '=', payment.id).execute();
}

/** Buys the plan from the balance. If the plan is not available any more, the money stays in the balance. */
async function buyPlan(transaction: Kysely<Tables>, payment: PaymentRow, nowMs: number): Promise<void> {
  const order = JSON.parse(payment.plan_order ?? '') as PlanOrder;
  const result = await executeOrder(transaction, order, {
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
  return result.type === 'refused' ? `the plan could not be bought (${result.why})` : 'a debt was paid first, and the rest is too little';
}
