import type { Kysely, Selectable } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { lockWallet, postCredit } from '../ledger/credit.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { executeOrder } from './plan-orders.ts';
import { readBenefit, type PromoBenefit } from './promo-codes.ts';
import { hashCode, hashMailbox, normalizeCode } from './promo-code-text.ts';
import { PromoGuesses } from './promo-guesses.ts';

/** Why a code was refused. Each reason has its own value, so that people know what to do. */
export type RedeemRefusal =
  | 'unknown'
  | 'not_yet_valid'
  | 'expired'
  | 'stopped'
  | 'used_up'
  | 'already_used'
  | 'new_accounts_only'
  | 'needs_top_up'
  | 'has_plan'
  | 'too_many_tries';

/** The result of redeeming a code. */
export type RedeemResult =
  | { readonly type: 'redeemed'; readonly benefit: PromoBenefit }
  | {
      readonly type: 'refused';
      readonly why: RedeemRefusal;
      /** How much must be topped up, if that is the reason. */
      readonly minimumTopUp?: Nanos;
      readonly validFromMs?: number;
      readonly retryAfterMs?: number;
    };

/** The account, code, address and time of a redemption. */
export interface RedeemRequest {
  readonly accountId: string;
  readonly code: string;
  readonly address?: string | undefined;
  readonly nowMs: number;
}

type CodeRow = Selectable<Tables['promo_codes']>;
type AccountRow = Selectable<Tables['accounts']>;

/** Redeems a code for an account, once. A conditional update of the code decides, and the redemption's primary key stops a repetition. */
export async function redeem(database: Kysely<Tables>, request: RedeemRequest): Promise<RedeemResult> {
  const guesses = new PromoGuesses(database);
  const retryAfterMs = await guesses.begin(request, request.nowMs);
  if (retryAfterMs > 0) return { type: 'refused', why: 'too_many_tries', retryAfterMs };
  const normalized = normalizeCode(request.code);
  const result =
    normalized === undefined
      ? refused('unknown')
      : await inTransaction(database, (transaction) => redeemWithin(transaction, hashCode(normalized), request)).catch(readUndone);
  // A code that exists was not guessed, even if it is refused.
  if (result.type !== 'refused' || result.why !== 'unknown') await guesses.takeBack(request);
  return result;
}

async function redeemWithin(transaction: Kysely<Tables>, codeHash: string, request: RedeemRequest): Promise<RedeemResult> {
  // Serializes the redemptions of one account, so that its uses can be counted.
  await lockWallet(transaction, request.accountId);
  const code = await transaction.selectFrom('promo_codes').selectAll().where('code_hash', '=', codeHash).executeTakeFirst();
  if (code === undefined) return refused('unknown');
  const account = await transaction.selectFrom('accounts').selectAll().where('id', '=', request.accountId).executeTakeFirstOrThrow();
  const n = (await countUses(transaction, code, account)) + 1;
  const use = { code, account, n, nowMs: request.nowMs };
  const obstacle = await findObstacle(transaction, use);
  if (obstacle !== undefined) return obstacle;
  const benefit = readBenefit(code);
  // Comes before the use is counted, because a plan can still be refused.
  if (benefit.kind === 'plan') {
    const { accountId, nowMs } = request;
    const order = await executeOrder(
      transaction,
      { type: 'subscribe', planId: benefit.planId },
      { accountId, nowMs, paysBy: 'nobody', periods: benefit.periods },
    );
    if (order.type === 'refused') return refused(order.why === 'has_plan' ? 'has_plan' : 'stopped');
  }
  if (!(await countUp(transaction, code.id, request.nowMs))) throw new Undone('used_up');
  if (!(await record(transaction, use))) throw new Undone('already_used');
  if (benefit.kind === 'credit') await give(transaction, code, { accountId: account.id, n, nowMs: request.nowMs }, benefit.amount);
  return { type: 'redeemed', benefit };
}

/** Thrown if a concurrent redemption won, to roll back this transaction. */
class Undone extends Error {
  override readonly name = 'Undone';
  readonly why: RedeemRefusal;

  constructor(why: RedeemRefusal) {
    super(why);
    this.why = why;
  }
}

function readUndone(error: unknown): RedeemResult {
  if (error instanceof Undone) return refused(error.why);
  throw error;
}

/** One more use of a code by an account: its `n`th of the campaign. */
interface Use {
  readonly code: CodeRow;
  readonly account: AccountRow;
  readonly n: number;
  readonly nowMs: number;
}

/** Returns the reason to refuse the code now, if any. The update that counts the use checks the code again. */
async function findObstacle(transaction: Kysely<Tables>, { code, account, n, nowMs }: Use): Promise<RedeemResult | undefined> {
  if (code.stopped_at !== null) return refused('stopped');
  if (code.valid_from !== null && nowMs < code.valid_from)
    return { type: 'refused', why: 'not_yet_valid', validFromMs: Number(code.valid_from) };
  if (code.valid_to !== null && nowMs >= code.valid_to) return refused('expired');
  if (n > Number(code.per_account)) return refused('already_used');
  if (code.used >= code.max_uses) return refused('used_up');
  if (code.new_account_days !== null && nowMs - Number(account.created_at) > Number(code.new_account_days) * DAY_MS)
    return refused('new_accounts_only');
  if (code.kind !== 'bonus' && code.minimum_top_up > 0n && (await readTopUps(transaction, account.id)) < code.minimum_top_up)
    return { type: 'refused', why: 'needs_top_up', minimumTopUp: asNanos(code.minimum_top_up) };
  return undefined;
}

/**
 * Counts how often this account, or another of the same mailbox, has used codes of the campaign. In two queries: for both at once the
 * embedded database would read all uses of the campaign, while charges wait.
 */
async function countUses(transaction: Kysely<Tables>, code: CodeRow, account: AccountRow): Promise<number> {
  const query = transaction
    .selectFrom('promo_redemptions')
    .select(({ fn }) => fn.max('n').as('n'))
    .where('campaign', '=', code.campaign);
  const own = await query.where('account_id', '=', account.id).executeTakeFirst();
  const ofMailbox = await query.where('email_hash', '=', hashMailbox(account.email)).executeTakeFirst();
  return Math.max(Number(own?.n ?? 0), Number(ofMailbox?.n ?? 0));
}

async function readTopUps(transaction: Kysely<Tables>, accountId: string): Promise<bigint> {
  const row = await transaction
    .selectFrom('payments')
    .select(({ fn }) => [fn.sum<bigint | null>('amount').as('amount'), fn.sum<bigint | null>('reversed').as('reversed')])
    .where('account_id', '=', accountId)
    .where('status', '=', 'paid')
    .executeTakeFirst();
  return (row?.amount ?? 0n) - (row?.reversed ?? 0n);
}

/** Counts a use if one is left; this decides between concurrent redemptions. */
async function countUp(transaction: Kysely<Tables>, codeId: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('promo_codes')
    .set((expression) => ({ used: expression('used', '+', 1n) }))
    .where('id', '=', codeId)
    .where('stopped_at', 'is', null)
    .where((where) => where('used', '<', where.ref('max_uses')))
    .where((where) => where.or([where('valid_to', 'is', null), where('valid_to', '>', BigInt(nowMs))]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Records a use. Returns false if another account of the same mailbox used the campaign at the same time. */
async function record(transaction: Kysely<Tables>, { code, account, n, nowMs }: Use): Promise<boolean> {
  const inserted = await transaction
    .insertInto('promo_redemptions')
    .values({
      campaign: code.campaign,
      account_id: account.id,
      n,
      code_id: code.id,
      email_hash: hashMailbox(account.email),
      state: code.kind === 'bonus' ? 'waiting' : 'done',
      created_at: nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

async function give(
  transaction: Kysely<Tables>,
  code: CodeRow,
  { accountId, n, nowMs }: { readonly accountId: string; readonly n: number; readonly nowMs: number },
  amount: bigint,
): Promise<void> {
  await postCredit(transaction, {
    accountId,
    amount: asNanos(amount),
    house: 'promo_expense',
    kind: 'promo',
    source: sourceOf(code.id, accountId, n),
    reason: `promo code ${code.shown}`,
    expiresAtMs: code.credit_days === null ? undefined : nowMs + Number(code.credit_days) * DAY_MS,
    atMs: nowMs,
  });
}

/** Credits a bonus that waits for a top-up of this size, and returns its amount, 0 if none waits. Runs in the transaction of the top-up. */
export async function creditBonus(
  transaction: Kysely<Tables>,
  topUp: { readonly paymentId: string; readonly accountId: string; readonly amount: bigint; readonly nowMs: number },
): Promise<bigint> {
  const waiting = await transaction
    .selectFrom('promo_redemptions')
    .innerJoin('promo_codes', 'promo_codes.id', 'promo_redemptions.code_id')
    .selectAll('promo_codes')
    .select('promo_redemptions.n')
    .where('promo_redemptions.account_id', '=', topUp.accountId)
    .where('promo_redemptions.state', '=', 'waiting')
    .where('promo_codes.minimum_top_up', '<=', topUp.amount)
    .orderBy('promo_redemptions.created_at')
    .executeTakeFirst();
  if (waiting === undefined) return 0n;
  const { numUpdatedRows } = await transaction
    .updateTable('promo_redemptions')
    .set({ state: 'done', payment_id: topUp.paymentId })
    .where('campaign', '=', waiting.campaign)
    .where('account_id', '=', topUp.accountId)
    .where('n', '=', waiting.n)
    .where('state', '=', 'waiting')
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return 0n;
  const share = (topUp.amount * (waiting.percent ?? 0n)) / 100n;
  const bonus = waiting.amount !== null && waiting.amount < share ? waiting.amount : share;
  if (bonus > 0n) await give(transaction, waiting, { accountId: topUp.accountId, n: Number(waiting.n), nowMs: topUp.nowMs }, bonus);
  return bonus;
}

/** Returns the source of the bonus of a payment; undefined if it had none. */
export async function findBonusSource(transaction: Kysely<Tables>, accountId: string, paymentId: string): Promise<string | undefined> {
  const use = await transaction
    .selectFrom('promo_redemptions')
    .select(['code_id', 'n'])
    .where('account_id', '=', accountId)
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  return use === undefined ? undefined : sourceOf(use.code_id, accountId, Number(use.n));
}

function sourceOf(codeId: string, accountId: string, n: number): string {
  return `promo:${codeId}:${accountId}:${n}`;
}

function refused(why: RedeemRefusal): RedeemResult {
  return { type: 'refused', why };
}
