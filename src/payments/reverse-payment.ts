import type { Kysely } from 'kysely';
import { findBonusSource } from '../accounts/redeem.ts';
import type { Tables } from '../database/tables.ts';
import { lockWallet, readExpired } from '../ledger/credit.ts';
import { giveBack, takeBack, type Reversed } from './taken-credit.ts';
import type { PaymentRow } from './payments.ts';

/** A refund or dispute. It is `lifted` once the money has come back to us. */
export interface Reversal {
  /** The provider's id of the refund or dispute. */
  readonly id: string;
  readonly providerRef: string;
  readonly kind: 'refund' | 'dispute';
  readonly cents: number;
  readonly state: 'standing' | 'lifted';
  /** When this was so. The bank may change the amount of a dispute. */
  readonly atMs: number;
}

/**
 * Serializes the events of one charge. Without this, a refund that arrives at the same moment as its payment would find no payment
 * yet, and the payment no refund yet.
 */
export async function lockCharge(transaction: Kysely<Tables>, providerRef: string): Promise<void> {
  await transaction
    .insertInto('provider_charges')
    .values({ provider_ref: providerRef })
    .onConflict((conflict) => conflict.column('provider_ref').doUpdateSet({ provider_ref: providerRef }))
    .execute();
}

/**
 * Records a refund or dispute and takes back what was credited, in the caller's transaction. Returns the payment's id, if there is
 * one. Events arrive in any order: a lifted reversal stays lifted, the newest amount counts (of several in the same second, the largest),
 * and a reversal that arrives before its payment waits for it.
 */
export async function recordReversal(transaction: Kysely<Tables>, reversal: Reversal, nowMs: number): Promise<string | undefined> {
  await lockCharge(transaction, reversal.providerRef);
  await transaction
    .insertInto('payment_reversals')
    .values({
      id: reversal.id,
      provider_ref: reversal.providerRef,
      kind: reversal.kind,
      cents: reversal.cents,
      state: reversal.state,
      created_at: reversal.atMs,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ state: reversal.state }).where('payment_reversals.state', '=', 'standing'),
    )
    .execute();
  await transaction
    .updateTable('payment_reversals')
    .set({ cents: reversal.cents, created_at: reversal.atMs })
    .where('id', '=', reversal.id)
    .where((where) => where(where.refTuple('created_at', 'cents'), '<', where.tuple(BigInt(reversal.atMs), BigInt(reversal.cents))))
    .execute();
  const trigger = `${reversal.id}:${reversal.state}:${reversal.atMs}:${reversal.cents}`;
  return reversePayment(transaction, reversal.providerRef, { trigger, nowMs });
}

/** Posts the difference between what was taken back of a payment so far and what its refunds and disputes now require. */
export async function reversePayment(
  transaction: Kysely<Tables>,
  providerRef: string,
  { trigger, nowMs }: { readonly trigger: string; readonly nowMs: number },
): Promise<string | undefined> {
  const payment = await lockPaid(transaction, providerRef);
  if (payment === undefined) return undefined;
  // The rest of a bonus must not expire between reading it and taking it back.
  await lockWallet(transaction, payment.account_id);
  const standing = await readStanding(transaction, payment);
  const reversed = (payment.amount * standing) / payment.charge_cents;
  const bonusSource = await findBonusSource(transaction, payment.account_id, payment.id);
  const bonusReversed = await bonusToTake(transaction, payment, { bonusSource, share: (payment.bonus * standing) / payment.charge_cents });
  const source = `${payment.provider}:${providerRef}:${trigger}`;
  const taken = { payment, part: 'paid', from: payment.reversed, to: reversed, source, nowMs } as const;
  const bonus = { payment, part: 'promo', from: payment.bonus_reversed, to: bonusReversed, source: `${source}:bonus`, nowMs } as const;
  const moves: Reversed[] = [taken, { ...bonus, origin: bonusSource }];
  // Given back in the opposite order: what was taken last has left the debt.
  for (const each of reversed < payment.reversed ? moves.toReversed() : moves) await move(transaction, each);
  await transaction.updateTable('payments').set({ reversed, bonus_reversed: bonusReversed }).where('id', '=', payment.id).execute();
  if (reversed > payment.reversed) await stopAutoTopUp(transaction, payment.account_id, nowMs);
  return payment.id;
}

/** Turns automatic top-ups off: otherwise the card would be charged at once for the money just refunded to it. */
async function stopAutoTopUp(transaction: Kysely<Tables>, accountId: string, nowMs: number): Promise<void> {
  await transaction
    .updateTable('auto_top_ups')
    .set({ is_on: 0, reason: 'a payment was refunded or disputed', updated_at: nowMs })
    .where('account_id', '=', accountId)
    .where('is_on', '=', 1n)
    .execute();
}

/** Returns how much of a bonus to take back for the refunded share, without what was already taken when it expired. */
async function bonusToTake(
  transaction: Kysely<Tables>,
  payment: PaymentRow,
  { bonusSource, share }: { readonly bonusSource: string | undefined; readonly share: bigint },
): Promise<bigint> {
  if (share <= payment.bonus_reversed) return share;
  const left = payment.bonus - (bonusSource === undefined ? 0n : await readExpired(transaction, payment.account_id, bonusSource));
  const most = share < left ? share : left;
  return most > payment.bonus_reversed ? most : payment.bonus_reversed;
}

async function lockPaid(transaction: Kysely<Tables>, providerRef: string): Promise<PaymentRow | undefined> {
  return transaction
    .updateTable('payments')
    .set((expression) => ({ asked_at: expression.ref('asked_at') }))
    .where('provider_ref', '=', providerRef)
    .where('status', '=', 'paid')
    .returningAll()
    .executeTakeFirst();
}

/** Returns the refunded or disputed cents of a payment: at most what was paid, although a refund may follow a lost dispute. */
async function readStanding(transaction: Kysely<Tables>, payment: PaymentRow): Promise<bigint> {
  const row = await transaction
    .selectFrom('payment_reversals')
    .select(({ fn }) => fn.sum<bigint | null>('cents').as('cents'))
    .where('provider_ref', '=', payment.provider_ref)
    .where('state', '=', 'standing')
    .executeTakeFirst();
  const cents = row?.cents ?? 0n;
  return cents < payment.charge_cents ? cents : payment.charge_cents;
}

async function move(transaction: Kysely<Tables>, reversed: Reversed): Promise<void> {
  if (reversed.to > reversed.from) await takeBack(transaction, reversed);
  if (reversed.to < reversed.from) await giveBack(transaction, reversed);
}
