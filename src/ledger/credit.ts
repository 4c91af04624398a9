import { createHash } from 'node:crypto';
import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { inTransaction } from '../database/in-transaction.ts';
import { asNanos, least, NO_MONEY, type Nanos } from './money.ts';

/** The gate's own accounts, on the other side of the wallets. They keep no running sums: they are added up from the transfers. */
export const HOUSE_ACCOUNTS = ['revenue', 'stripe_clearing', 'manual_clearing', 'promo_expense', 'plan_grant', 'breakage'] as const;
export type HouseAccount = (typeof HOUSE_ACCOUNTS)[number];

type GrantKind = Tables['grants']['kind'];

/** Money that moves between a wallet and one of the gate's own accounts. */
export interface Posting {
  readonly accountId: string;
  readonly amount: Nanos;
  readonly house: HouseAccount;
  /** The business fact behind it, such as `stripe:pi_123`. Posting the same source twice changes nothing. */
  readonly source: string;
  /** Shown to people. */
  readonly reason: string;
  /** Defaults to now. */
  readonly atMs?: number | undefined;
}

/** Credit given to an account. */
export interface Credit extends Posting {
  readonly kind: GrantKind;
  readonly expiresAtMs?: number | undefined;
}

/** Money taken from an account. */
export interface Debit extends Posting {
  readonly kind: string;
  /** Kinds of credit to draw on first. By default, the credit that expires first goes first. */
  readonly from?: readonly GrantKind[] | undefined;
}

/** The result of paying from the balance. */
export type BalancePayment = { readonly type: 'posted' | 'repeated' } | { readonly type: 'insufficient'; readonly payable: Nanos };

/** Credit that can buy a plan. Plan credit could renew itself for ever, and promo credit is meant for usage. */
const SPENDABLE_ON_PLANS: readonly GrantKind[] = ['paid', 'manual'];

/** Gives an account credit. It pays off a debt first; the rest can be spent until it expires. */
export async function postCredit(database: Kysely<Tables>, credit: Credit): Promise<'posted' | 'repeated'> {
  return inTransaction(database, async (transaction) => {
    const wallet = `wallet:${credit.accountId}`;
    if (!(await insertTransfer(transaction, credit, { debit: credit.house, credit: wallet, kind: credit.kind }))) return 'repeated';
    // Update before reading: the update locks the wallet, so its sums cannot change in between.
    await transaction
      .updateTable('wallets')
      .set((expression) => ({ credits_posted: expression('credits_posted', '+', credit.amount) }))
      .where('account_id', '=', credit.accountId)
      .execute();
    const { balance } = await readWallet(transaction, credit.accountId);
    const spendable = balance > 0n ? least(balance, credit.amount) : NO_MONEY;
    await transaction
      .insertInto('grants')
      .values({
        id: grantId(credit.source),
        account_id: credit.accountId,
        kind: credit.kind,
        amount: credit.amount,
        remaining: spendable,
        is_spent: spendable === 0n ? 1 : 0,
        expires_at: credit.expiresAtMs ?? null,
        source: credit.source,
        created_at: credit.atMs ?? Date.now(),
      })
      .execute();
    return 'posted';
  });
}

/** Takes money from an account, for a correction or the refund of a top-up. May leave a debt if the money was already spent. */
export async function postDebit(database: Kysely<Tables>, debit: Debit): Promise<'posted' | 'repeated'> {
  return (await takeCredit(database, debit)) === undefined ? 'repeated' : 'posted';
}

/** How much was taken of a credit. */
interface Taken {
  readonly grant: Selectable<Tables['grants']>;
  readonly amount: bigint;
}

/** Takes money from an account, and returns of which credit. Undefined if it was taken before. */
export async function takeCredit(database: Kysely<Tables>, debit: Debit): Promise<readonly Taken[] | undefined> {
  return inTransaction(database, async (transaction) => {
    const wallet = `wallet:${debit.accountId}`;
    if (!(await insertTransfer(transaction, debit, { debit: wallet, credit: debit.house, kind: debit.kind }))) return undefined;
    const { numUpdatedRows } = await transaction
      .updateTable('wallets')
      .set((expression) => ({ debits_posted: expression('debits_posted', '+', debit.amount) }))
      .where('account_id', '=', debit.accountId)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new Error('The account has no wallet');
    return draw(transaction, debit);
  });
}

/** Something an account pays for with its own money. */
export interface Purchase extends Posting {
  readonly kind: string;
  /** Money that has just come in to pay for it. */
  readonly cameIn?: Nanos | undefined;
}

/** Pays with money the account put in itself, minus what running requests may still need. Never leaves a debt. */
export async function payFromBalance(database: Kysely<Tables>, { cameIn, ...debit }: Purchase): Promise<BalancePayment> {
  return inTransaction(database, async (transaction) => {
    await lockWallet(transaction, debit.accountId);
    const done = await transaction.selectFrom('transfers').select('id').where('id', '=', moneyId(debit.source)).executeTakeFirst();
    if (done !== undefined) return { type: 'repeated' };
    const payable = await readPayable(transaction, debit.accountId, cameIn);
    if (payable < debit.amount) return { type: 'insufficient', payable };
    return { type: await postDebit(transaction, { ...debit, from: SPENDABLE_ON_PLANS }) };
  });
}

/** An account's balance, negative for a debt, and how much of it running requests hold. */
export interface WalletState {
  /** True once the account has ever had credit, even if all of it is spent. */
  readonly hasHadCredit: boolean;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly available: Nanos;
}

/** Reads an account's balance and holds. */
export async function readWallet(database: Kysely<Tables>, accountId: string): Promise<WalletState> {
  const wallet = await database.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow();
  const balance = wallet.credits_posted - wallet.debits_posted;
  return {
    hasHadCredit: wallet.credits_posted > 0n,
    balance: asNanos(balance),
    held: asNanos(wallet.debits_pending),
    available: asNanos(balance - wallet.debits_pending),
  };
}

/** Returns what an account owes. Incoming credit pays off a debt first. */
export async function readDebt(database: Kysely<Tables>, accountId: string): Promise<Nanos> {
  const { balance } = await readWallet(database, accountId);
  return balance < 0n ? asNanos(NO_MONEY - balance) : NO_MONEY;
}

/**
 * Returns how much an account could pay for a plan. Money that has just come in for it is free to use: running requests were admitted
 * without it.
 */
export async function readPayable(database: Kysely<Tables>, accountId: string, cameIn = NO_MONEY): Promise<Nanos> {
  const { balance, available } = await readWallet(database, accountId);
  const paidIn = least(cameIn, balance);
  const free = available > paidIn ? available : paidIn;
  const grants = await database
    .selectFrom('grants')
    .select(({ fn }) => fn.sum<bigint | null>('remaining').as('left'))
    .where('account_id', '=', accountId)
    .where('is_spent', '=', 0n)
    .where('kind', 'in', SPENDABLE_ON_PLANS)
    .executeTakeFirst();
  const payable = least(free, grants?.left ?? 0n);
  return asNanos(payable > 0n ? payable : 0n);
}

/** Returns an account's remaining grants, or the first of them, in the order charges draw on them. */
export function readGrants(database: Kysely<Tables>, accountId: string, rowsMax?: number): Promise<Selectable<Tables['grants']>[]> {
  return database
    .selectFrom('grants')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('is_spent', '=', 0n)
    .orderBy('draw_order')
    .orderBy('expires_at', (order) => order.asc().nullsLast())
    .orderBy('created_at')
    .orderBy('id')
    .$if(rowsMax !== undefined, (query) => query.limit(rowsMax ?? 0))
    .execute();
}

/** Returns how many grants of an account remain, and how much of them. */
export async function sumGrants(database: Kysely<Tables>, accountId: string): Promise<{ count: number; left: Nanos }> {
  const { count, left } = await database
    .selectFrom('grants')
    .select(({ fn }) => [fn.countAll<bigint>().as('count'), fn.sum<bigint | null>('remaining').as('left')])
    .where('account_id', '=', accountId)
    .where('is_spent', '=', 0n)
    .executeTakeFirstOrThrow();
  return { count: Number(count), left: asNanos(left ?? 0n) };
}

/** Returns how much of one credit expired, also after it was taken back and given again. */
export async function readExpired(database: Kysely<Tables>, accountId: string, source: string): Promise<bigint> {
  const row = await database
    .selectFrom('transfers')
    .select(({ fn }) => fn.sum<bigint | null>('amount').as('amount'))
    .where('debit', '=', `wallet:${accountId}`)
    // Lets the database use the index that leaves out charges.
    .where('kind', '<>', 'usage')
    .where('kind', '=', 'expiry')
    .where('ref', 'in', (query) =>
      query
        .selectFrom('grants')
        .select('id')
        .where((is) => is.or([is('source', '=', source), is('source', '>=', `${source}:`).and('source', '<', `${source};`)])),
    )
    .executeTakeFirst();
  return row?.amount ?? 0n;
}

/** An account's id, or a query for it. */
type AccountId = string | SelectQueryBuilder<Tables, 'api_keys', { account_id: string }>;

/**
 * Locks an account's money until the transaction ends. An update locks the row on both databases. A transaction that changes accounts,
 * keys or subscriptions as well does so afterwards: each of these raises the counter of `changes`, which all transactions wait for, and
 * two that locked wallet and counter in different orders would wait for each other.
 */
export async function lockWallet(transaction: Kysely<Tables>, accountId: AccountId): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('wallets')
    .set((expression) => ({ debits_pending: expression.ref('debits_pending') }))
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function grantId(source: string): string {
  return moneyId(`grant:${source}`);
}

/** Derives a version 5 UUID from a business fact, so the same fact has the same id on every node and retry. */
export function moneyId(source: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(source).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Tollgate's own UUID namespace, drawn once at random. */
const NAMESPACE = Buffer.from('7d1c8a54e0b94f6f9a3b52d6c0f1e8a7', 'hex');

interface Ends {
  readonly debit: string;
  readonly credit: string;
  readonly kind: string;
}

/** Returns false when this source was posted before. */
async function insertTransfer(transaction: Kysely<Tables>, posting: Posting, ends: Ends): Promise<boolean> {
  const result = await transaction
    .insertInto('transfers')
    .values({ id: moneyId(posting.source), ...ends, amount: posting.amount, ref: posting.reason, created_at: posting.atMs ?? Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Draws on the preferred kinds first, otherwise in the order of charges. */
async function draw(transaction: Kysely<Tables>, { accountId, amount, from = [] }: Debit): Promise<Taken[]> {
  const grants = await readGrants(transaction, accountId);
  const inOrder = [...grants.filter(({ kind }) => from.includes(kind)), ...grants.filter(({ kind }) => !from.includes(kind))];
  const drawn: Taken[] = [];
  let left: bigint = amount;
  for (const grant of inOrder) {
    if (left === 0n) break;
    const taken = least(grant.remaining, left);
    await transaction
      .updateTable('grants')
      .set({ remaining: grant.remaining - taken, is_spent: taken === grant.remaining ? 1 : 0 })
      .where('id', '=', grant.id)
      .execute();
    drawn.push({ grant, amount: taken });
    left -= taken;
  }
  return drawn;
}
