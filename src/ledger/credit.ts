import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { Nanos } from './money.ts';

/** Where money comes from and goes to, besides the wallets. Their sums are not kept: they are added up from the transfers. */
export type HouseAccount = 'revenue' | 'stripe_clearing' | 'promo_expense' | 'plan_grant' | 'breakage' | 'write_off' | 'refunds_payable';

/** Money that moves between a wallet and the house, for a reason. */
export interface Posting {
  readonly accountId: string;
  readonly amount: Nanos;
  readonly house: HouseAccount;
  /** What it is for, such as `stripe:pi_123`: the same thing posted again changes nothing. */
  readonly source: string;
  /** For people to read. */
  readonly reason: string;
}

/** Credit that an account is given. */
export interface Credit extends Posting {
  readonly kind: 'paid' | 'plan' | 'promo' | 'manual';
  readonly expiresAtMs?: number | undefined;
}

/** Gives an account credit. A debt is paid first; the rest can be spent until it expires. */
export async function postCredit(database: Kysely<Tables>, credit: Credit): Promise<'posted' | 'repeated'> {
  return within(database, async (transaction) => {
    const wallet = `wallet:${credit.accountId}`;
    if (!(await insertTransfer(transaction, credit, { debit: credit.house, credit: wallet, kind: credit.kind }))) return 'repeated';
    // The update comes before the read: it locks the wallet, so the sums cannot change in between.
    await transaction
      .updateTable('wallets')
      .set((expression) => ({ credits_posted: expression('credits_posted', '+', credit.amount) }))
      .where('account_id', '=', credit.accountId)
      .execute();
    const balance = await readBalance(transaction, credit.accountId);
    const spendable = balance < credit.amount ? balance : credit.amount;
    await transaction
      .insertInto('grants')
      .values({
        id: moneyId(`grant:${credit.source}`),
        account_id: credit.accountId,
        kind: credit.kind,
        amount: credit.amount,
        remaining: spendable > 0n ? spendable : 0n,
        expires_at: credit.expiresAtMs ?? null,
        source: credit.source,
        created_at: Date.now(),
      })
      .execute();
    return 'posted';
  });
}

/** Takes money from an account, which may leave a debt: a refund of a top-up that was spent already, or a correction. */
export async function postDebit(database: Kysely<Tables>, debit: Posting & { readonly kind: string }): Promise<'posted' | 'repeated'> {
  return within(database, async (transaction) => {
    const wallet = `wallet:${debit.accountId}`;
    if (!(await insertTransfer(transaction, debit, { debit: wallet, credit: debit.house, kind: debit.kind }))) return 'repeated';
    const { numUpdatedRows } = await transaction
      .updateTable('wallets')
      .set((expression) => ({ debits_posted: expression('debits_posted', '+', debit.amount) }))
      .where('account_id', '=', debit.accountId)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new Error('There is no wallet for the account');
    await draw(transaction, debit.accountId, debit.amount);
    return 'posted';
  });
}

/** In the caller's transaction where there is one, so that its other entries are written with it or not at all. */
function within<Result>(database: Kysely<Tables>, work: (transaction: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  return database.isTransaction ? work(database) : database.transaction().execute(work);
}

/** A name for a business fact that is the same whenever and wherever it is made: a UUID of version 5. */
export function moneyId(source: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(source).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Tollgate's own, drawn once at random. */
const NAMESPACE = Buffer.from('7d1c8a54e0b94f6f9a3b52d6c0f1e8a7', 'hex');

interface Ends {
  readonly debit: string;
  readonly credit: string;
  readonly kind: string;
}

/** False when this was posted before. */
async function insertTransfer(transaction: Kysely<Tables>, posting: Posting, ends: Ends): Promise<boolean> {
  const result = await transaction
    .insertInto('transfers')
    .values({ id: moneyId(posting.source), ...ends, amount: posting.amount, ref: posting.reason, created_at: Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

async function readBalance(transaction: Kysely<Tables>, accountId: string): Promise<bigint> {
  const wallet = await transaction.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow();
  return wallet.credits_posted - wallet.debits_posted;
}

/** Credit that ends first is used first, as for charges. */
async function draw(transaction: Kysely<Tables>, accountId: string, amount: bigint): Promise<void> {
  const grants = await transaction
    .selectFrom('grants')
    .select(['id', 'remaining'])
    .where('account_id', '=', accountId)
    .where('remaining', '>', 0n)
    .orderBy('expires_at', (order) => order.asc().nullsLast())
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  let left = amount;
  for (const grant of grants) {
    if (left === 0n) return;
    const taken = grant.remaining < left ? grant.remaining : left;
    await transaction
      .updateTable('grants')
      .set({ remaining: grant.remaining - taken })
      .where('id', '=', grant.id)
      .execute();
    left -= taken;
  }
}
