import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { lockWallet } from '../ledger/credit.ts';

/** The kinds of alerts, and the unit of each threshold. */
export const ALERT_KINDS = {
  /** The balance is below this many nano-dollars. */
  low_balance: 'usd',
  /** Spending in the current day or month of the owner's time zone has reached this many nano-dollars. */
  spend_day: 'usd',
  spend_month: 'usd',
  /** This percentage of a key's spending limit is used. */
  key_limit: 'percent',
  /** This percentage of the last hour's requests failed. */
  error_rate: 'percent',
  /** A key expires within this many days. */
  key_expiring: 'days',
  /** Someone signed in. There is no threshold. */
  sign_in: 'none',
} as const;

export type AlertKind = keyof typeof ALERT_KINDS;

/** One alert an account has set up. */
export interface AlertRule {
  readonly id: string;
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly threshold: bigint;
  readonly byMail: boolean;
  readonly byWebhook: boolean;
  readonly createdAtMs: number;
}

/** The settings of a rule to create. */
export type NewRule = Pick<AlertRule, 'kind' | 'threshold' | 'byMail' | 'byWebhook'>;

/** More than anyone can keep track of. */
export const RULES_MAX = 50;
/** Rules that are checked together. Few enough that the sums of their accounts are read in a moment. */
const PAGE_ROWS = 100;

/** The alerts that accounts have set up. */
export class AlertRules {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async list(accountId: string): Promise<AlertRule[]> {
    const rows = await this.#database.selectFrom('alert_rules').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
    return rows.map(readRule);
  }

  /** Returns when each currently crossed rule of an account last fired, by rule id. */
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

  /** Creates a rule. Returns undefined when the account has reached its limit. */
  async create(accountId: string, { kind, threshold, byMail, byWebhook }: NewRule): Promise<AlertRule | undefined> {
    return this.#database.transaction().execute(async (transaction) => {
      // The lock serialises creations: otherwise several at the same moment could all find room.
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

  /** Changes a rule and re-arms it, so that the new threshold fires. Returns undefined when there is no such rule. */
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

  /** Reads all rules of all accounts page by page, grouped by account. */
  async *readPages(): AsyncGenerator<AlertRule[]> {
    let last = { account_id: '', id: '' };
    for (;;) {
      const { account_id, id } = last;
      const rows = await this.#database
        .selectFrom('alert_rules')
        .selectAll()
        // Where the index begins: without it, PostgreSQL reads all rules for every page.
        .where('account_id', '>=', account_id)
        .where((where) =>
          where.or([where('account_id', '>', account_id), where.and([where('account_id', '=', account_id), where('id', '>', id)])]),
        )
        .orderBy('account_id')
        .orderBy('id')
        .limit(PAGE_ROWS)
        .execute();
      yield rows.map(readRule);
      const end = rows.at(-1);
      if (end === undefined || rows.length < PAGE_ROWS) return;
      last = end;
    }
  }
}

/** Returns whether any account has an alert. */
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
