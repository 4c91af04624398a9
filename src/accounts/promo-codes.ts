import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { hashCode, makeCode, normalizeCode, shownPart } from './promo-code-text.ts';

/** What a code gives. */
export type PromoBenefit =
  | { readonly kind: 'credit'; readonly amount: Nanos; readonly creditDays?: number | undefined }
  | { readonly kind: 'plan'; readonly planId: string; readonly periods: number }
  /** A share of the next top-up, at most `amount`. */
  | { readonly kind: 'bonus'; readonly percent: number; readonly amount: Nanos; readonly creditDays?: number | undefined };

/** Who may use a code, how often and when. */
export interface PromoRules {
  /** Codes of one campaign count together for what one account may use. */
  readonly campaign?: string | undefined;
  readonly usesMax: number;
  readonly perAccount: number;
  /** For accounts that are younger than this. */
  readonly newAccountDays?: number | undefined;
  /** What must have been topped up; for a bonus, by the very top-up that it is for. */
  readonly minimumTopUp: Nanos;
  readonly validFromMs?: number | undefined;
  readonly validToMs?: number | undefined;
}

/** Which codes to make. */
export type CodeChoice = { readonly code: string } | { readonly prefix: string; readonly count: number };

/** A code as the list shows it; the code itself is not kept. */
export interface ListedPromo extends PromoRules {
  readonly id: string;
  readonly shown: string;
  readonly campaign: string;
  readonly benefit: PromoBenefit;
  readonly used: number;
  readonly isStopped: boolean;
  readonly createdAtMs: number;
}

/** A code just made; it cannot be had a second time. */
export interface FreshPromo {
  readonly id: string;
  readonly code: string;
}

/** The promo codes: made, listed and stopped by the operator. redeem.ts is what accounts do with them. */
export class PromoCodes {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Makes codes, all or none; undefined when the chosen code is taken. */
  async create(which: CodeChoice, benefit: PromoBenefit, rules: PromoRules): Promise<FreshPromo[] | undefined> {
    const texts = 'code' in which ? [which.code] : Array.from({ length: which.count }, () => makeCode(which.prefix));
    const fresh = texts.map((code) => ({ id: makeId('promo'), code }));
    const campaign = rules.campaign ?? fresh[0]?.id ?? '';
    const isMade = await this.#database.transaction().execute(async (transaction) => {
      for (const { id, code } of fresh) {
        const normalized = normalizeCode(code);
        if (normalized === undefined) throw new Error('A code has 4 to 64 letters, digits and _; blanks and hyphens do not count.');
        const inserted = await transaction
          .insertInto('promo_codes')
          .values({ id, code_hash: hashCode(normalized), shown: shownPart(code.toUpperCase()), ...toColumns(benefit, rules), campaign })
          .onConflict((conflict) => conflict.column('code_hash').doNothing())
          .executeTakeFirst();
        if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
      }
      return true;
    });
    return isMade ? fresh : undefined;
  }

  async list(campaign?: string): Promise<ListedPromo[]> {
    const all = this.#database.selectFrom('promo_codes').selectAll().orderBy('created_at', 'desc').orderBy('id');
    const rows = await (campaign === undefined ? all : all.where('campaign', '=', campaign)).execute();
    return rows.map(readPromo);
  }

  /** Ends a code, or all codes of a campaign, at once; gives how many. What was redeemed stays. */
  async stop(idOrCampaign: string): Promise<number> {
    const { numUpdatedRows } = await this.#database
      .updateTable('promo_codes')
      .set({ stopped_at: Date.now() })
      .where((where) => where.or([where('id', '=', idOrCampaign), where('campaign', '=', idOrCampaign)]))
      .where('stopped_at', 'is', null)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }
}

/** What a code gives, out of its row. */
export function readBenefit(row: Selectable<Tables['promo_codes']>): PromoBenefit {
  const amount = asNanos(row.amount ?? 0n);
  const creditDays = optional(row.credit_days);
  switch (row.kind) {
    case 'credit':
      return { kind: 'credit', amount, creditDays };
    case 'bonus':
      return { kind: 'bonus', percent: Number(row.percent ?? 0n), amount, creditDays };
    case 'plan':
      return { kind: 'plan', planId: row.plan_id ?? '', periods: Number(row.periods ?? 1n) };
  }
}

function readPromo(row: Selectable<Tables['promo_codes']>): ListedPromo {
  return {
    id: row.id,
    shown: row.shown,
    campaign: row.campaign,
    benefit: readBenefit(row),
    used: Number(row.used),
    usesMax: Number(row.max_uses),
    perAccount: Number(row.per_account),
    newAccountDays: optional(row.new_account_days),
    minimumTopUp: asNanos(row.minimum_top_up),
    validFromMs: optional(row.valid_from),
    validToMs: optional(row.valid_to),
    isStopped: row.stopped_at !== null,
    createdAtMs: Number(row.created_at),
  };
}

function toColumns(benefit: PromoBenefit, rules: PromoRules): Omit<PromoRow, 'id' | 'code_hash' | 'shown' | 'campaign'> {
  return {
    kind: benefit.kind,
    amount: benefit.kind === 'plan' ? null : benefit.amount,
    percent: benefit.kind === 'bonus' ? benefit.percent : null,
    plan_id: benefit.kind === 'plan' ? benefit.planId : null,
    periods: benefit.kind === 'plan' ? benefit.periods : null,
    credit_days: benefit.kind === 'plan' ? null : (benefit.creditDays ?? null),
    used: 0,
    max_uses: rules.usesMax,
    per_account: rules.perAccount,
    new_account_days: rules.newAccountDays ?? null,
    minimum_top_up: rules.minimumTopUp,
    valid_from: rules.validFromMs ?? null,
    valid_to: rules.validToMs ?? null,
    created_at: Date.now(),
  };
}

type PromoRow = Insertable<Tables['promo_codes']>;

function optional(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
