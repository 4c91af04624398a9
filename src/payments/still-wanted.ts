import { sql, type Kysely, type Selectable } from 'kysely';
import { findSubscription, type PlanOrder } from '../accounts/plan-orders.ts';
import { findPlan } from '../accounts/plans.ts';
import { endsAfterPeriod, renewalPriceOf, Subscriptions, type Subscription } from '../accounts/subscriptions.ts';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { moneyId, readDebt, readPayable } from '../ledger/credit.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { chargeCentsFor, fromCents, UNFINISHED } from './payments.ts';

/** A charge of a saved card, as its row has it. */
export type Charge = Pick<Selectable<Tables['payments']>, 'id' | 'account_id' | 'amount' | 'method_ref' | 'plan_order'> & {
  readonly created_at: bigint | number;
};
type Purchase = Exclude<PlanOrder, { type: 'renew' }>;

/**
 * Returns whether an account still wants its card charged. Time passes between the decision and the charge: other accounts are charged
 * first, or a request without a response is repeated. Meanwhile the account may have paid, changed its mind or been suspended.
 */
export async function isStillWanted(database: Kysely<Tables>, charge: Charge): Promise<boolean> {
  const account = await database.selectFrom('accounts').select('status').where('id', '=', charge.account_id).executeTakeFirst();
  if (account?.status !== 'active') return false;
  if (charge.plan_order === null) return isTopUpWanted(database, charge);
  const order = JSON.parse(charge.plan_order) as PlanOrder;
  return order.type === 'renew' ? isRenewalWanted(database, charge) : isPurchaseWanted(database, charge.account_id, order);
}

/** The terms must be those of the charge: new ones get a charge of their own. */
async function isTopUpWanted(database: Kysely<Tables>, { id, account_id: accountId, amount, ...charge }: Charge): Promise<boolean> {
  const terms = await database
    .selectFrom('auto_top_ups')
    .innerJoin('wallets', 'wallets.account_id', 'auto_top_ups.account_id')
    .select('monthly_cap')
    .where('auto_top_ups.account_id', '=', accountId)
    .where('is_on', '=', 1n)
    .where('amount', '=', amount)
    .where('method_ref', '=', charge.method_ref)
    .where(BELOW_THRESHOLD)
    .executeTakeFirst();
  if (terms === undefined) return false;
  const monthMs = windowStartMs('month', Number(charge.created_at));
  return (await chargedSince(database, accountId, monthMs, id)) + amount <= terms.monthly_cap;
}

/** Whether the available balance is below the threshold of automatic top-ups. */
export const BELOW_THRESHOLD = sql<boolean>`credits_posted - debits_posted - debits_pending < threshold`;

/** Returns what automatic top-ups have charged or may have charged, unfinished payments included, apart from one of them. */
export async function chargedSince(database: Kysely<Tables>, accountId: string, sinceMs: number, exceptId = ''): Promise<bigint> {
  const row = await database
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<bigint | null>('amount').as('amount'))
    .where('account_id', '=', accountId)
    .where('purpose', '=', 'auto_top_up')
    .where('status', 'in', [...UNFINISHED, 'paid'])
    .where('created_at', '>=', BigInt(sinceMs))
    .where('id', '<>', exceptId)
    .executeTakeFirst();
  return row?.amount ?? 0n;
}

async function isRenewalWanted(database: Kysely<Tables>, charge: Charge): Promise<boolean> {
  const subscription = await new Subscriptions(database).find(charge.account_id);
  // The id differs if the plan was renewed, replaced or tried again meanwhile.
  if (subscription === undefined || renewalIdOf(subscription) !== charge.id || endsAfterPeriod(subscription)) return false;
  const { paysBy, methodRef = charge.method_ref, nextPlan, plan } = subscription;
  if (paysBy !== 'card' || methodRef !== charge.method_ref) return false;
  if ((await findPlan(database, (nextPlan ?? plan).id)) === undefined) return false;
  const due = await readRenewalDue(database, subscription);
  return due > 0n && charge.amount <= fromCents(chargeCentsFor(due));
}

/** Returns one payment id per attempt at a renewal, so that concurrent and repeated turns find the same payment. */
export function renewalIdOf({ id, periodEndMs, tries }: Subscription): string {
  return `pay_${moneyId(`renewal:${id}:${periodEndMs}:${tries}`)}`;
}

/** Returns what the card is to pay for a renewal: the price plus any debt. After the first attempt, only what the balance lacks. */
export async function readRenewalDue(database: Kysely<Tables>, subscription: Subscription): Promise<Nanos> {
  const { accountId, tries } = subscription;
  const payable = tries === 0 ? NO_MONEY : await readPayable(database, accountId);
  return asNanos(renewalPriceOf(subscription) + (await readDebt(database, accountId)) - payable);
}

/** Of two clicks, the second finds the plan that the first has bought. */
async function isPurchaseWanted(database: Kysely<Tables>, accountId: string, order: Purchase): Promise<boolean> {
  const current = await findSubscription(database, accountId);
  return order.type === 'subscribe' ? current === undefined : current !== undefined && current.plan_id !== order.planId;
}
