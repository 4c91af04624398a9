import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { toEntry, type RecordedEntry } from './audit.ts';
import { findAccountId } from './owners.ts';

/** Which entries to read; what is undefined does not matter. */
export interface AuditFilter {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** The id of what was changed, or the address of an account. */
  readonly subject?: string | undefined;
}

/** An entry, with the name of what it is about, where it has one that people know. */
export interface NamedEntry extends RecordedEntry {
  readonly name: string | undefined;
}

type Condition = (builder: ExpressionBuilder<Tables, 'audit'>) => Expression<SqlBool>;

/** The record of all changes, for those who run the service. */
export class AuditLog {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** A page of entries, newest first, and where the next one begins. */
  async read(filter: AuditFilter, page: PageRequest): Promise<PageOf<NamedEntry>> {
    let query = this.#database.selectFrom('audit').selectAll();
    if (filter.action !== undefined) query = query.where('action', '=', filter.action);
    if (filter.actor !== undefined) query = query.where('actor', '=', filter.actor);
    if (filter.subject !== undefined) query = query.where(await this.#isAbout(filter.subject));
    const { rows, next } = await readPage(query, 'audit', 'id', page);
    const names = await this.#namesOf(rows.map(({ subject }) => subject));
    return { rows: rows.map((row) => ({ ...toEntry(row), name: names.get(row.subject) })), next };
  }

  /** Every kind of change that was ever made. */
  async actions(): Promise<string[]> {
    const rows = await this.#database.selectFrom('audit').select('action').distinct().orderBy('action').execute();
    return rows.map(({ action }) => action);
  }

  /** An account is asked for by its address too, and then with its keys: those that it has, and those that it had. */
  async #isAbout(subject: string): Promise<Condition> {
    const accountId = await findAccountId(this.#database, subject);
    if (accountId === undefined) return (where) => where('subject', '=', subject);
    const keys = this.#database.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
    const own = this.#database.selectNoFrom((select) => select.val(accountId).as('id'));
    return (where) => where('subject', 'in', keys.unionAll(own));
  }

  /** Accounts by their address, keys by their name and the address of their account. */
  async #namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const accounts = await this.#database.selectFrom('accounts').select(['id', 'email']).where('id', 'in', ids).execute();
    const keys = await this.#database
      .selectFrom('api_keys')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select(['api_keys.id', 'api_keys.name', 'accounts.email'])
      .where('api_keys.id', 'in', ids)
      .execute();
    return new Map([
      ...accounts.map(({ id, email }) => [id, email] as const),
      ...keys.map(({ id, name, email }) => [id, `${name}, ${email}`] as const),
    ]);
  }
}
