import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { lockWallet } from '../ledger/credit.ts';

/** What can be watched, and what the threshold of each counts. */
export const ALERT_KINDS = {
  /** The balance is below so many nano-dollars. */
  low_balance: 'usd',
  /** The spend of this day, or month, of the UTC calendar has reached so many nano-dollars. */
  spend_day: 'usd',
  spend_month: 'usd',
  /** A spending limit of a key is used to so many per cent. */
  key_limit: 'percent',
  /** So many per cent of the requests of the last hour failed. */
  error_rate: 'percent',
  /** A key ends within so many days. */
  key_expiring: 'days',
  /** Somebody signed in; there is nothing to count. */
  sign_in: 'none',
} as const;

export type AlertKind = keyof typeof ALERT_KINDS;

/** Something that somebody wants to be told about. */
export interface AlertRule {
  readonly id: string;
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly threshold: bigint;
  readonly byMail: boolean;
  readonly byWebhook: boolean;
  readonly createdAtMs: number;
}

export type NewRule = Pick<AlertRule, 'kind' | 'threshold' | 'byMail' | 'byWebhook'>;

/** More than anybody can tell apart. */
export const RULES_MAX = 50;
/** Read at once when all are looked at. */
const PAGE_ROWS = 500;

/** The alerts that people asked for. */
export class AlertRules {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async list(accountId: string): Promise<AlertRule[]> {
    const rows = await this.#database.selectFrom('alert_rules').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
    return rows.map(readRule);
  }

  /** When each of an account's rules that is crossed now was told about last, by its id. */
  async listFired(accountId: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database
      .selectFrom('alert_states')
      .innerJoin('alert_rules', 'alert_rules.id', 'alert_states.rule_id')
      .select(({ fn }) => ['alert_states.rule_id', fn.max('alert_states.fired_at').as('fired_at')])
      .where('alert_rules.account_id', '=', accountId)
      .groupBy('alert_states.rule_id')
      .execute();
    return new Map(rows.map((row) => [row.rule_id, Number(row.fired_at)]));
  }

  /** Undefined when the account has as many as it may. */
  async create(accountId: string, { kind, threshold, byMail, byWebhook }: NewRule): Promise<AlertRule | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      // One after the other: many at the same moment could else all find room.
      await lockWallet(transaction, accountId);
      if ((await new AlertRules(transaction).list(accountId)).length >= RULES_MAX) return undefined;
      const nowMs = Date.now();
      const row = await transaction
        .insertInto('alert_rules')
        .values({
          id: makeId('alert', nowMs),
          account_id: accountId,
          kind,
          threshold,
          by_mail: byMail ? 1 : 0,
          by_webhook: byWebhook ? 1 : 0,
          created_at: nowMs,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return readRule(row);
    });
  }

  /** Changes a rule and arms it anew, so that a new threshold is told about; undefined when there is none. */
  async update(accountId: string, id: string, change: Omit<NewRule, 'kind'>): Promise<AlertRule | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable('alert_rules')
        .set({ threshold: change.threshold, by_mail: change.byMail ? 1 : 0, by_webhook: change.byWebhook ? 1 : 0 })
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await transaction.deleteFrom('alert_states').where('rule_id', '=', id).execute();
      return readRule(row);
    });
  }

  async delete(accountId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('alert_rules')
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    return numDeletedRows === 1n;
  }

  /** All rules of everybody, page by page, those of an account in a row. */
  async *readAll(): AsyncGenerator<AlertRule> {
    let last = { account_id: '', id: '' };
    for (;;) {
      const { account_id, id } = last;
      const rows = await this.#database
        .selectFrom('alert_rules')
        .selectAll()
        .where((where) =>
          where.or([where('account_id', '>', account_id), where.and([where('account_id', '=', account_id), where('id', '>', id)])]),
        )
        .orderBy('account_id')
        .orderBy('id')
        .limit(PAGE_ROWS)
        .execute();
      for (const row of rows) yield readRule(row);
      const end = rows.at(-1);
      if (end === undefined || rows.length < PAGE_ROWS) return;
      last = end;
    }
  }
}

/** Whether anybody wants to be told anything. */
export async function hasAlerts(database: Kysely<Tables>): Promise<boolean> {
  return (await database.selectFrom('alert_rules').select('id').limit(1).executeTakeFirst()) !== undefined;
}

function readRule(row: Selectable<Tables['alert_rules']>): AlertRule {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind as AlertKind,
    threshold: row.threshold,
    byMail: row.by_mail === 1n,
    byWebhook: row.by_webhook === 1n,
    createdAtMs: Number(row.created_at),
  };
}
