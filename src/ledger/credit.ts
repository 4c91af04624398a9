import { createHash } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { within } from '../database/within.ts';
import { asNanos, least, NO_MONEY, type Nanos } from './money.ts';

/** Where money comes from and goes to, besides the wallets. Their sums are not kept: they are added up from the transfers. */
export type HouseAccount = 'revenue' | 'stripe_clearing' | 'manual_clearing' | 'promo_expense' | 'plan_grant' | 'breakage';

type GrantKind = Tables['grants']['kind'];

/** Money that moves between a wallet and the house, for a reason. */
export interface Posting {
  readonly accountId: string;
  readonly amount: Nanos;
  readonly house: HouseAccount;
  /** What it is for, such as `stripe:pi_123`: the same thing posted again changes nothing. */
  readonly source: string;
  /** For people to read. */
  readonly reason: string;
  /** When; now, unless told. */
  readonly atMs?: number | undefined;
}

/** Credit that an account is given. */
export interface Credit extends Posting {
  readonly kind: GrantKind;
  readonly expiresAtMs?: number | undefined;
}

/** Money that an account loses. */
export interface Debit extends Posting {
  readonly kind: string;
  /** The kinds of credit that it is taken from before all others; else what ends first is taken first. */
  readonly from?: readonly GrantKind[] | undefined;
}

/** What became of a payment from the balance. */
export type BalancePayment = { readonly type: 'posted' | 'repeated' } | { readonly type: 'insufficient'; readonly payable: Nanos };

/** What a plan can be bought with: not with the credit of a plan, which would buy itself again and again, and not with a gift for usage. */
const SPENDABLE_ON_PLANS: readonly GrantKind[] = ['paid', 'manual'];

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
    const { balance } = await readWallet(transaction, credit.accountId);
    const spendable = least(balance, credit.amount);
    await transaction
      .insertInto('grants')
      .values({
        id: grantId(credit.source),
        account_id: credit.accountId,
        kind: credit.kind,
        amount: credit.amount,
        remaining: spendable > 0n ? spendable : 0n,
        expires_at: credit.expiresAtMs ?? null,
        source: credit.source,
        created_at: credit.atMs ?? Date.now(),
      })
      .execute();
    return 'posted';
  });
}

/** Takes money from an account, which may leave a debt: a refund of a top-up that was spent already, or a correction. */
export async function postDebit(database: Kysely<Tables>, debit: Debit): Promise<'posted' | 'repeated'> {
  return within(database, async (transaction) => {
    const wallet = `wallet:${debit.accountId}`;
    if (!(await insertTransfer(transaction, debit, { debit: wallet, credit: debit.house, kind: debit.kind }))) return 'repeated';
    const { numUpdatedRows } = await transaction
      .updateTable('wallets')
      .set((expression) => ({ debits_posted: expression('debits_posted', '+', debit.amount) }))
      .where('account_id', '=', debit.accountId)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new Error('There is no wallet for the account');
    await draw(transaction, debit);
    return 'posted';
  });
}

/** What is paid for with an account's own money. */
export interface Purchase extends Posting {
  readonly kind: string;
  /** What has just come in for it. */
  readonly cameIn?: Nanos | undefined;
}

/** Pays for something with money that the account has put in itself, as far as no running request may need it. Never leaves a debt. */
export async function payFromBalance(database: Kysely<Tables>, { cameIn, ...debit }: Purchase): Promise<BalancePayment> {
  return within(database, async (transaction) => {
    await lockWallet(transaction, debit.accountId);
    const done = await transaction.selectFrom('transfers').select('id').where('id', '=', moneyId(debit.source)).executeTakeFirst();
    if (done !== undefined) return { type: 'repeated' };
    const payable = await readPayable(transaction, debit.accountId, cameIn);
    if (payable < debit.amount) return { type: 'insufficient', payable };
    return { type: await postDebit(transaction, { ...debit, from: SPENDABLE_ON_PLANS }) };
  });
}

/** What an account has: its balance, below zero for a debt, and what of it running requests hold. */
export interface WalletState {
  /** True as soon as there was any, though nothing of it may be left. */
  readonly hasHadCredit: boolean;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly available: Nanos;
}

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

/** What an account owes. A debt is paid first by whatever comes in. */
export async function readDebt(database: Kysely<Tables>, accountId: string): Promise<Nanos> {
  const { balance } = await readWallet(database, accountId);
  return balance < 0n ? asNanos(NO_MONEY - balance) : NO_MONEY;
}

/** What an account could pay for a plan. What has just come in for it no running request needs: they were let in without it. */
export async function readPayable(database: Kysely<Tables>, accountId: string, cameIn = NO_MONEY): Promise<Nanos> {
  const { balance, available } = await readWallet(database, accountId);
  const paidIn = least(cameIn, balance);
  const free = available > paidIn ? available : paidIn;
  const grants = await database
    .selectFrom('grants')
    .select(({ fn }) => fn.sum<bigint | null>('remaining').as('left'))
    .where('account_id', '=', accountId)
    .where('remaining', '>', 0n)
    .where('kind', 'in', SPENDABLE_ON_PLANS)
    .executeTakeFirst();
  const payable = least(free, grants?.left ?? 0n);
  return asNanos(payable > 0n ? payable : 0n);
}

/** What is left of an account's credit, in the order in which charges use it. */
export function readGrants(database: Kysely<Tables>, accountId: string): Promise<Selectable<Tables['grants']>[]> {
  return database
    .selectFrom('grants')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('remaining', '>', 0n)
    .orderBy('draw_order')
    .orderBy('expires_at', (order) => order.asc().nullsLast())
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** What was taken back of a credit because its time was over. */
export async function readExpired(database: Kysely<Tables>, accountId: string, source: string): Promise<bigint> {
  const row = await database
    .selectFrom('transfers')
    .select(({ fn }) => fn.sum<bigint | null>('amount').as('amount'))
    .where('debit', '=', `wallet:${accountId}`)
    // What lets the index without charges be used.
    .where('kind', '<>', 'usage')
    .where('kind', '=', 'expiry')
    .where('ref', '=', grantId(source))
    .executeTakeFirst();
  return row?.amount ?? 0n;
}

/** Keeps everything of the account as it is until the transaction ends. An update, which locks on both databases. */
export async function lockWallet(transaction: Kysely<Tables>, accountId: string): Promise<boolean> {
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
    .values({ id: moneyId(posting.source), ...ends, amount: posting.amount, ref: posting.reason, created_at: posting.atMs ?? Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** In the order in which charges use it, but for the kinds that the debit is taken from before others. */
async function draw(transaction: Kysely<Tables>, { accountId, amount, from = [] }: Debit): Promise<void> {
  const grants = await readGrants(transaction, accountId);
  const inOrder = [...grants.filter(({ kind }) => from.includes(kind)), ...grants.filter(({ kind }) => !from.includes(kind))];
  let left: bigint = amount;
  for (const grant of inOrder) {
    if (left === 0n) return;
    const taken = least(grant.remaining, left);
    await transaction
      .updateTable('grants')
      .set({ remaining: grant.remaining - taken })
      .where('id', '=', grant.id)
      .execute();
    left -= taken;
  }
}
