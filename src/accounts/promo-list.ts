import { sql, type Kysely, type RawBuilder } from 'kysely';
import { toPage, readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { hashCode, SHOWN_LENGTH, withoutSeparators } from './promo-code-text.ts';
import { readBenefit, readPromo, type ListedPromo, type PromoBenefit } from './promo-codes.ts';

/** States of a code at a moment. */
export const PROMO_STATES = ['valid', 'not_yet', 'over', 'used_up', 'stopped'] as const;
export type PromoState = (typeof PROMO_STATES)[number];

/** A code with its state. */
export interface PromoWithState extends ListedPromo {
  readonly state: PromoState;
}

interface PromoFilter {
  readonly campaign?: string | undefined;
  readonly state?: PromoState | undefined;
  /** A whole code, or as much of its start as lists show: the rest is stored as a hash. */
  readonly code?: string | undefined;
}

/** Returns a page of codes that match a filter. */
export async function readPromos(database: Kysely<Tables>, filter: PromoFilter, page: PageRequest): Promise<PageOf<PromoWithState>> {
  const state = stateAt(Date.now());
  let query = database.selectFrom('promo_codes').selectAll().select(state.as('state'));
  if (filter.campaign !== undefined) query = query.where('campaign', '=', filter.campaign);
  if (filter.state !== undefined) query = query.where(state, '=', filter.state);
  if (filter.code !== undefined) query = query.where(isCode(withoutSeparators(filter.code)));
  const { rows, next } = await readPage(query, 'promo_codes', 'id', page);
  return { rows: rows.map((row) => ({ ...readPromo(row), state: row.state })), next };
}

function isCode(plain: string): RawBuilder<boolean> {
  if (plain.length > SHOWN_LENGTH) return sql`code_hash = ${hashCode(plain)}`;
  return sql`substr(shown, 1, ${sql.lit(plain.length)}) = ${plain}`;
}

/** Returns one code with its state. */
export async function findPromo(database: Kysely<Tables>, id: string): Promise<PromoWithState | undefined> {
  const query = database.selectFrom('promo_codes').selectAll().select(stateAt(Date.now()).as('state'));
  const row = await query.where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { ...readPromo(row), state: row.state };
}

/** Returns the named campaigns. Codes without one form their own campaign, named by the id of the first of them. */
export async function readCampaigns(database: Kysely<Tables>, rowsMax: number): Promise<string[]> {
  const rows = await database
    .selectFrom('promo_codes')
    .select('campaign')
    .distinct()
    .where(sql<boolean>`NOT (substr(campaign, 1, 6) = 'promo_' AND length(campaign) = ${sql.lit(makeId('promo').length)})`)
    .orderBy('campaign')
    .limit(rowsMax)
    .execute();
  return rows.map(({ campaign }) => campaign);
}

/** Counts the codes of a campaign, those not stopped, and their uses. */
export async function sumCampaign(database: Kysely<Tables>, campaign: string): Promise<{ codes: number; running: number; used: number }> {
  const sums = await database
    .selectFrom('promo_codes')
    .select(({ fn }) => [
      fn.countAll<bigint>().as('codes'),
      fn.count<bigint>('stopped_at').as('stopped'),
      fn.sum<bigint | null>('used').as('used'),
    ])
    .where('campaign', '=', campaign)
    .executeTakeFirstOrThrow();
  return { codes: Number(sums.codes), running: Number(sums.codes - sums.stopped), used: Number(sums.used ?? 0n) };
}

/** One use of a code. */
export interface Redemption {
  readonly accountId: string;
  readonly email: string;
  readonly n: number;
  readonly codeId: string;
  readonly shown: string;
  readonly benefit: PromoBenefit;
  /** Amount credited; undefined for a plan, and for a bonus that waits for a top-up. */
  readonly given: Nanos | undefined;
  readonly isWaiting: boolean;
  readonly createdAtMs: number;
}

/** Returns a page of the uses of a code, or of all codes of a campaign. */
export async function readRedemptions(
  database: Kysely<Tables>,
  of: { readonly codeId: string } | { readonly campaign: string },
  { before, rowsMax }: PageRequest,
): Promise<PageOf<Redemption>> {
  let query = database
    .selectFrom('promo_redemptions')
    .innerJoin('promo_codes', 'promo_codes.id', 'promo_redemptions.code_id')
    .innerJoin('accounts', 'accounts.id', 'promo_redemptions.account_id')
    .leftJoin('payments', 'payments.id', 'promo_redemptions.payment_id')
    .selectAll('promo_codes')
    .select(['promo_redemptions.account_id', 'promo_redemptions.n', 'promo_redemptions.state', 'promo_redemptions.created_at as used_at'])
    .select(['accounts.email', 'payments.bonus']);
  query =
    'codeId' in of ? query.where('promo_redemptions.code_id', '=', of.codeId) : query.where('promo_redemptions.campaign', '=', of.campaign);
  if (before !== undefined) {
    const [atMs = '', accountId = '', n = ''] = before.split('-');
    const place = ['promo_redemptions.created_at', 'promo_redemptions.account_id', 'promo_redemptions.n'] as const;
    query = query.where((where) => where.eb(where.refTuple(...place), '<', where.tuple(BigInt(atMs), accountId, BigInt(n))));
  }
  const rows = await query
    .orderBy('promo_redemptions.created_at', 'desc')
    .orderBy('promo_redemptions.account_id', 'desc')
    .orderBy('promo_redemptions.n', 'desc')
    .limit(rowsMax + 1)
    .execute();
  const redemptions = rows.map((row) => ({
    accountId: row.account_id,
    email: row.email,
    n: Number(row.n),
    codeId: row.id,
    shown: row.shown,
    benefit: readBenefit(row),
    given: row.kind === 'plan' || row.state === 'waiting' ? undefined : asNanos((row.kind === 'bonus' ? row.bonus : row.amount) ?? 0n),
    isWaiting: row.state === 'waiting',
    createdAtMs: Number(row.used_at),
  }));
  return toPage(redemptions, rowsMax, ({ createdAtMs, accountId, n }) => `${createdAtMs}-${accountId}-${n}`);
}

/** Returns the state as SQL. The order matches the order of refusals in redeem.ts. */
function stateAt(nowMs: number): RawBuilder<PromoState> {
  const now = BigInt(nowMs);
  return sql<PromoState>`CASE WHEN stopped_at IS NOT NULL THEN 'stopped' WHEN valid_from > ${now} THEN 'not_yet'
    WHEN valid_to <= ${now} THEN 'over' WHEN used >= max_uses THEN 'used_up' ELSE 'valid' END`;
}
