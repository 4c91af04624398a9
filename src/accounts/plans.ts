import type { Insertable, Kysely, Selectable } from 'kysely';
import { readOptional } from '../database/columns.ts';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { asNanos, formatUsd, type Nanos } from '../ledger/money.ts';
import { differences, COMMAND_LINE, recordAudit, type AuditValue } from './audit.ts';
import { NO_SUBSCRIBERS, readPlanFigures } from './plan-figures.ts';
import type { PlanLimits } from './plan-limits.ts';
import type { PlanInterval } from './plan-period.ts';
import { alignUse, type Overflow, type UseFirst } from './plan-use.ts';

/** A plan as the operator defined it. */
export interface Plan extends PlanLimits {
  readonly id: string;
  readonly name: string;
  readonly price: Nanos;
  readonly interval: PlanInterval;
  /** Credit that comes with every period and expires a day after it. */
  readonly included: Nanos;
  /** False for plans that only the operator or a promo code gives. */
  readonly isOffered: boolean;
  /** Which credit subscribers use first, unless they choose. */
  readonly useFirst: UseFirst;
  readonly overflow: Overflow;
}

/** A plan with its origin. */
export interface StoredPlan extends Plan {
  readonly origin: 'settings' | 'command';
  readonly isEnded: boolean;
}

/** A plan with its number of subscribers. */
export interface ListedPlan extends StoredPlan {
  readonly subscribers: number;
}

/** The result of a change. Plans of the settings file can be changed only there. */
export type PlanResult = 'done' | 'of_settings' | 'taken' | 'no_such_plan';

/** Default actors of changes to plans. */
const ACTORS: Readonly<Record<StoredPlan['origin'], string>> = { settings: 'settings file', command: COMMAND_LINE };

/** All plans. They are stored as rows, so that every node and command sees the same. */
export class Plans {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Creates or changes a plan. Price and credit apply from each subscriber's next period, everything else at once. */
  async save(
    plan: Plan,
    origin: StoredPlan['origin'],
    { actor = ACTORS[origin], expects }: { readonly actor?: string; readonly expects?: 'new' | 'there' } = {},
  ): Promise<PlanResult> {
    const row = toRow(plan);
    const result = await inTransaction(this.#database, async (transaction): Promise<PlanResult> => {
      const former = await transaction.selectFrom('plans').selectAll().where('id', '=', plan.id).executeTakeFirst();
      const exists = former !== undefined && former.ended_at === null;
      if (exists && former.origin === 'settings' && origin === 'command') return 'of_settings';
      if (exists && expects === 'new') return 'taken';
      if (!exists && expects === 'there') return 'no_such_plan';
      await transaction
        .insertInto('plans')
        .values({ id: plan.id, ...row, origin, created_at: Date.now(), ended_at: null })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...row, origin, ended_at: null }))
        .execute();
      const changes = differences(former === undefined ? {} : { ...audited(readPlan(former)), ended: exists ? null : true }, audited(plan));
      const action = former === undefined ? 'plan.create' : 'plan.update';
      if (changes.length > 0) await recordAudit(transaction, { actor, action, subject: plan.id, changes });
      return 'done';
    });
    if (result === 'done') await alignUse(this.#database);
    return result;
  }

  /** Brings the rows in line with the settings file. Plans removed from the file are no longer offered. Unchanged rows are not written. */
  async saveSettings(plans: readonly Plan[]): Promise<void> {
    const known = new Map((await this.#database.selectFrom('plans').selectAll().execute()).map((row) => [row.id, row]));
    for (const plan of plans) {
      const row = known.get(plan.id);
      if (row === undefined || row.ended_at !== null || row.origin !== 'settings' || !isSame(row, plan)) await this.save(plan, 'settings');
    }
    const removed = [...known.values()].filter(
      ({ id, origin, ended_at }) => origin === 'settings' && ended_at === null && !plans.some((plan) => plan.id === id),
    );
    for (const { id } of removed) await this.end(id, 'settings');
    await alignUse(this.#database);
  }

  /** Stops offering a plan. Subscribers keep it to the end of the period. */
  async end(id: string, origin: StoredPlan['origin'], actor: string = ACTORS[origin]): Promise<PlanResult> {
    return inTransaction(this.#database, async (transaction) => {
      const row = await transaction
        .selectFrom('plans')
        .select('origin')
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .executeTakeFirst();
      if (row === undefined) return 'no_such_plan';
      if (row.origin === 'settings' && origin === 'command') return 'of_settings';
      await transaction.updateTable('plans').set({ ended_at: Date.now() }).where('id', '=', id).execute();
      const changes = [{ field: 'ended', before: null, after: true }];
      await recordAudit(transaction, { actor, action: 'plan.end', subject: id, changes });
      return 'done';
    });
  }

  /** Returns all plans, cheapest first. */
  async read(): Promise<StoredPlan[]> {
    const rows = await this.#database.selectFrom('plans').selectAll().orderBy('price').orderBy('id').execute();
    return rows.map((row) => ({ ...readPlan(row), origin: row.origin, isEnded: row.ended_at !== null }));
  }

  /** Returns all plans with their numbers of subscribers, which takes a look at every subscription. */
  async list(): Promise<ListedPlan[]> {
    const figures = await readPlanFigures(this.#database);
    return (await this.read()).map((plan) => {
      const { active, cancelling, past_due: pastDue } = (figures.get(plan.id) ?? NO_SUBSCRIBERS).subscribers;
      return { ...plan, subscribers: active + cancelling + pastDue };
    });
  }
}

/** Returns the plan with this id, unless it has ended. */
export async function findPlan(database: Kysely<Tables>, id: string): Promise<Plan | undefined> {
  const row = await database.selectFrom('plans').selectAll().where('id', '=', id).where('ended_at', 'is', null).executeTakeFirst();
  return row === undefined ? undefined : readPlan(row);
}

/** Reads a plan from its row. */
export function readPlan(row: Selectable<Tables['plans']>): Plan {
  return {
    id: row.id,
    name: row.name,
    price: asNanos(row.price),
    interval: row.period,
    included: asNanos(row.included),
    isOffered: row.is_offered === 1n,
    useFirst: row.use_first,
    overflow: row.overflow,
    ...readPlanLimits(row),
  };
}

/** Reads a plan's limits from its row. */
export function readPlanLimits(
  row: Pick<Selectable<Tables['plans']>, 'models' | 'requests_per_minute' | 'tokens_per_minute' | 'concurrent'>,
): PlanLimits {
  return {
    models: row.models === null ? undefined : (JSON.parse(row.models) as string[]),
    requestsPerMinute: readOptional(row.requests_per_minute),
    tokensPerMinute: readOptional(row.tokens_per_minute),
    concurrent: readOptional(row.concurrent),
  };
}

function toRow(plan: Plan): Omit<Insertable<Tables['plans']>, 'id' | 'origin' | 'created_at'> {
  return {
    name: plan.name,
    price: plan.price,
    period: plan.interval,
    included: plan.included,
    requests_per_minute: plan.requestsPerMinute ?? null,
    tokens_per_minute: plan.tokensPerMinute ?? null,
    concurrent: plan.concurrent ?? null,
    models: plan.models === undefined ? null : JSON.stringify(plan.models),
    is_offered: plan.isOffered ? 1n : 0n,
    use_first: plan.useFirst,
    overflow: plan.overflow,
  };
}

/** Describes a plan for the audit log, without its id, which is the subject of the entry. */
function audited({ price, included, isOffered, ...plan }: Plan): Record<string, AuditValue> {
  return { ...plan, id: null, priceUsd: formatUsd(price), includedUsd: formatUsd(included), offered: isOffered };
}

function isSame(row: Selectable<Tables['plans']>, plan: Plan): boolean {
  return JSON.stringify(Object.values(toRow(readPlan(row))).map(String)) === JSON.stringify(Object.values(toRow(plan)).map(String));
}
