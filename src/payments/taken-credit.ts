import type { Kysely } from 'kysely';
import { applyUse } from '../accounts/plan-use.ts';
import type { Tables } from '../database/tables.ts';
import { postCredit, takeCredit, type Credit } from '../ledger/credit.ts';
import { asNanos, least } from '../ledger/money.ts';
import { clearingOf } from './clearing.ts';
import type { PaymentRow } from './payments.ts';

/** How much of a payment, or of its bonus, is taken back for its refunds and disputes, before and after an event. */
export interface Reversed {
  readonly payment: PaymentRow;
  readonly part: 'paid' | 'promo';
  readonly from: bigint;
  readonly to: bigint;
  readonly source: string;
  /** The source of the bonus. */
  readonly origin?: string | undefined;
  readonly nowMs: number;
}

/** Takes more back, and remembers which credit was taken, unless it is what would come back anyway. */
export async function takeBack(transaction: Kysely<Tables>, reversed: Reversed): Promise<void> {
  const { payment, part, from, to, origin } = reversed;
  const reason = part === 'promo' ? 'bonus of a refunded top-up' : 'refund of a top-up';
  const debit = { ...postingOf(reversed), amount: asNanos(to - from), kind: 'refund', from: [part], reason };
  for (const { grant, amount } of (await takeCredit(transaction, debit)) ?? []) {
    const isOwn = part === 'promo' ? grant.source === origin : grant.kind === part && grant.expires_at === null;
    if (isOwn) continue;
    await transaction
      .insertInto('taken_credit')
      .values({ provider_ref: payment.provider_ref ?? '', part, grant_id: grant.id, amount })
      .onConflict((conflict) =>
        conflict.columns(['provider_ref', 'part', 'grant_id']).doUpdateSet((row) => ({ amount: row('taken_credit.amount', '+', amount) })),
      )
      .execute();
  }
}

/**
 * Gives some of it back. First what came from no other credit, because that pays the debt that it left. The rest comes back as what it was:
 * credit that ends must not become money that never does.
 */
export async function giveBack(transaction: Kysely<Tables>, reversed: Reversed): Promise<void> {
  const { part, origin, source } = reversed;
  const taken = await readTaken(transaction, reversed);
  let left = reversed.from - reversed.to;
  const give = async (amount: bigint, credit: Pick<Credit, 'kind' | 'source'> & { readonly expiresAt: bigint | null }): Promise<void> => {
    const posting = { ...postingOf(reversed), ...credit, amount: asNanos(amount), reason: 'a refund or dispute was lifted' };
    if (amount > 0n)
      await postCredit(transaction, { ...posting, expiresAtMs: credit.expiresAt === null ? undefined : Number(credit.expiresAt) });
    left -= amount;
  };
  const own = taken.reduce((rest, { amount }) => rest - amount, reversed.from);
  await give(least(left, own), {
    kind: part,
    source: origin === undefined ? source : `${origin}:${source}`,
    expiresAt: await readEnd(transaction, origin),
  });
  for (const { grant_id: grantId, amount, kind, source: from, expires_at: expiresAt } of taken) {
    if (left === 0n) break;
    const given = least(left, amount);
    // What of it expires is found by its first source.
    await give(given, { kind, source: `${from}:${source}`, expiresAt });
    const row = { provider_ref: reversed.payment.provider_ref ?? '', part, grant_id: grantId };
    if (given === amount)
      await transaction
        .deleteFrom('taken_credit')
        .where((where) => where.and(row))
        .execute();
    else
      await transaction
        .updateTable('taken_credit')
        .set({ amount: amount - given })
        .where((where) => where.and(row))
        .execute();
  }
  if (taken.length > 0) await applyUse(transaction, reversed.payment.account_id);
}

function postingOf({ payment, part, source, nowMs }: Reversed) {
  const house = part === 'promo' ? 'promo_expense' : clearingOf(payment.provider);
  return { accountId: payment.account_id, house, source, atMs: nowMs } as const;
}

/** Returns the credit that was taken, last what ends first: what is left of a dispute takes that, as charges do. */
function readTaken(transaction: Kysely<Tables>, { payment, part }: Reversed) {
  return transaction
    .selectFrom('taken_credit')
    .innerJoin('grants', 'grants.id', 'taken_credit.grant_id')
    .select(['grant_id', 'taken_credit.amount', 'grants.kind', 'grants.source', 'grants.expires_at'])
    .where('provider_ref', '=', payment.provider_ref)
    .where('part', '=', part)
    .orderBy('grants.expires_at', (order) => order.desc().nullsFirst())
    .orderBy('grant_id')
    .execute();
}

/** Returns when a bonus ends; null if never. */
async function readEnd(transaction: Kysely<Tables>, origin: string | undefined): Promise<bigint | null> {
  if (origin === undefined) return null;
  const grant = await transaction.selectFrom('grants').select('expires_at').where('source', '=', origin).executeTakeFirst();
  return grant?.expires_at ?? null;
}
