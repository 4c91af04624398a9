import type { Insertable, Kysely, Selectable } from 'kysely';
import { readOptional } from '../database/columns.ts';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, formatUsd, type Nanos } from '../ledger/money.ts';
import { differences, COMMAND_LINE, recordAudit, type AuditValue } from './audit.ts';
import { hashCode, makeCode, normalizeCode, shownPart } from './promo-code-text.ts';

/** The benefit of a code. */
export type PromoBenefit =
  | { readonly kind: 'credit'; readonly amount: Nanos; readonly creditDays?: number | undefined }
  | { readonly kind: 'plan'; readonly planId: string; readonly periods: number }
  /** A percentage of the next top-up, at most `amount`. */
  | { readonly kind: 'bonus'; readonly percent: number; readonly amount: Nanos; readonly creditDays?: number | undefined };

/** Who may use a code, how often and when. */
export interface PromoRules {
  /** `perAccount` counts all codes of a campaign together. */
  readonly campaign?: string | undefined;
  readonly usesMax: number;
  readonly perAccount: number;
  /** Only accounts younger than this may use it. */
  readonly newAccountDays?: number | undefined;
  /** How much the account must have topped up; for a bonus, in the top-up that it applies to. */
  readonly minimumTopUp: Nanos;
  readonly validFromMs?: number | undefined;
  readonly validToMs?: number | undefined;
}

/** Which codes to create: one of one's choice, or random ones. */
export type CodeChoice = { readonly code: string } | { readonly prefix: string; readonly count: number };

/** A code as listed. The code itself is not stored. */
export interface ListedPromo extends PromoRules {
  readonly id: string;
  readonly shown: string;
  readonly campaign: string;
  readonly benefit: PromoBenefit;
  readonly used: number;
  readonly isStopped: boolean;
  readonly createdAtMs: number;
}

/** A new code. It cannot be read again later. */
export interface FreshPromo {
  readonly id: string;
  readonly code: string;
}

/** Creates, lists and stops promo codes for the operator. Accounts use them through redeem.ts. */
export class PromoCodes {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Creates codes, all or none. Returns undefined if the chosen code is taken, or codes were already created under this id. */
  async create(
    which: CodeChoice,
    benefit: PromoBenefit,
    rules: PromoRules,
    { actor = COMMAND_LINE, id = makeId('promo') }: { readonly actor?: string; readonly id?: string } = {},
  ): Promise<FreshPromo[] | undefined> {
    const texts = 'code' in which ? [which.code] : Array.from({ length: which.count }, () => makeCode(which.prefix));
    const fresh = texts.map((code, index) => ({ id: index === 0 ? id : makeId('promo'), code }));
    const campaign = rules.campaign ?? id;
    const columns = { ...toColumns(benefit, rules), campaign };
    try {
      await this.#database.transaction().execute(async (transaction) => {
        for (const part of partsOf(fresh)) await insert(transaction, part, columns);
        const changes = differences({}, { codes: fresh.length, ...auditedBenefit(benefit), ...auditedRules(rules) });
        await recordAudit(transaction, { actor, action: 'promo.create', subject: fresh.length === 1 ? id : campaign, changes });
      });
    } catch (error) {
      if (error instanceof Taken) return undefined;
      throw error;
    }
    return fresh;
  }

  async list(campaign?: string): Promise<ListedPromo[]> {
    const all = this.#database.selectFrom('promo_codes').selectAll().orderBy('created_at', 'desc').orderBy('id');
    const rows = await (campaign === undefined ? all : all.where('campaign', '=', campaign)).execute();
    return rows.map(readPromo);
  }

  /** Stops a code, or all codes of a campaign, at once; returns how many. Redeemed benefits stay. */
  async stop({ id, campaign }: { readonly id?: string; readonly campaign?: string }, actor: string = COMMAND_LINE): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('promo_codes')
        .set({ stopped_at: Date.now() })
        .where((where) => where.or([where('id', '=', id ?? ''), where('campaign', '=', campaign ?? '')]))
        .where('stopped_at', 'is', null)
        .executeTakeFirst();
      const stopped = Number(numUpdatedRows);
      const changes = [{ field: 'codes', before: null, after: stopped }];
      if (stopped > 0) await recordAudit(transaction, { actor, action: 'promo.stop', subject: id ?? campaign ?? '', changes });
      return stopped;
    });
  }
}

/** Thrown if a code exists already, to roll back the whole batch. */
class Taken extends Error {
  override readonly name = 'Taken';
}

async function insert(
  transaction: Kysely<Tables>,
  fresh: readonly FreshPromo[],
  columns: Omit<PromoRow, 'id' | 'code_hash' | 'shown'>,
): Promise<void> {
  const rows = fresh.map(({ id, code }) => {
    const normalized = normalizeCode(code);
    if (normalized === undefined) throw new Error('A code has 4 to 64 letters, digits and _; spaces and dashes do not count.');
    return { id, code_hash: hashCode(normalized), shown: shownPart(code.toUpperCase()), ...columns };
  });
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('promo_codes')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== BigInt(rows.length)) throw new Taken();
}

/** Describes a code for the audit log, without any part of the code itself. */
function auditedBenefit(benefit: PromoBenefit): Record<string, AuditValue> {
  if (benefit.kind === 'plan') return { plan: benefit.planId, periods: benefit.periods };
  const { kind, amount, creditDays } = benefit;
  return {
    [kind === 'credit' ? 'creditUsd' : 'bonusMaxUsd']: formatUsd(amount),
    bonusPercent: kind === 'bonus' ? benefit.percent : null,
    creditDays,
  };
}

function auditedRules({ minimumTopUp, usesMax, ...rules }: PromoRules): Record<string, AuditValue> {
  return { ...rules, uses: usesMax, minimumTopUpUsd: minimumTopUp === 0n ? null : formatUsd(minimumTopUp) };
}

/** Reads a code's benefit from its row. */
export function readBenefit(row: Selectable<Tables['promo_codes']>): PromoBenefit {
  const amount = asNanos(row.amount ?? 0n);
  const creditDays = readOptional(row.credit_days);
  switch (row.kind) {
    case 'credit':
      return { kind: 'credit', amount, creditDays };
    case 'bonus':
      return { kind: 'bonus', percent: Number(row.percent ?? 0n), amount, creditDays };
    case 'plan':
      return { kind: 'plan', planId: row.plan_id ?? '', periods: Number(row.periods ?? 1n) };
  }
}

/** Reads a listed code from its row. */
export function readPromo(row: Selectable<Tables['promo_codes']>): ListedPromo {
  return {
    id: row.id,
    shown: row.shown,
    campaign: row.campaign,
    benefit: readBenefit(row),
    used: Number(row.used),
    usesMax: Number(row.max_uses),
    perAccount: Number(row.per_account),
    newAccountDays: readOptional(row.new_account_days),
    minimumTopUp: asNanos(row.minimum_top_up),
    validFromMs: readOptional(row.valid_from),
    validToMs: readOptional(row.valid_to),
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
