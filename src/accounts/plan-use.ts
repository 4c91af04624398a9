import { sql, type Kysely } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { PLAN_USE, USE_DIFFERS } from '../ledger/money-in-checks.ts';
import { lockWallet } from '../ledger/credit.ts';

/** Which credit of an account is used first: the plan's, or all other credit. */
export type UseFirst = 'plan' | 'balance';

/** What happens when the plan's credit is used up: the balance pays, or requests are refused. */
export type Overflow = 'balance' | 'stop';

/**
 * Applies the plan's and the owner's choice of which credit is used. The result is stored on the wallet and its grants, where charges
 * read it, so this must run in the transaction of every change that affects it.
 */
export async function applyUse(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  await lockWallet(transaction, accountId);
  const wanted = await sql<{ draw_order: bigint | number; resets_at: bigint | null }>`
    SELECT draw_order, resets_at FROM (${PLAN_USE}) planned WHERE account_id = ${accountId}`.execute(transaction);
  const { draw_order: drawOrder, resets_at: resetsAt } = wanted.rows[0] ?? { draw_order: 0, resets_at: null };
  await transaction.updateTable('wallets').set({ plan_resets_at: resetsAt }).where('account_id', '=', accountId).execute();
  await transaction
    .updateTable('grants')
    .set({ draw_order: drawOrder })
    .where('account_id', '=', accountId)
    .where('kind', '=', 'plan')
    .where('is_spent', '=', 0n)
    .execute();
}

/**
 * Applies it to every subscriber whose stored result differs: after the operator changed a plan, and at every start in case the last
 * change was interrupted. Accounts are updated one by one, so that none waits for all others.
 */
export async function alignUse(database: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ account_id: string }>`
    SELECT wallets.account_id FROM (${PLAN_USE}) planned JOIN wallets ON wallets.account_id = planned.account_id
    WHERE ${USE_DIFFERS}`.execute(database);
  for (const { account_id: accountId } of rows) await inTransaction(database, (transaction) => applyUse(transaction, accountId));
}
