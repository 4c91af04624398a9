import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { toEntry, type RecordedEntry } from './audit.ts';
import { findAccountId } from './owners.ts';

/** Which entries to read. An undefined field matches everything. */
export interface AuditFilter {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** Id of the changed object, or the address of an account. */
  readonly subject?: string | undefined;
}

/** An entry with the display name of its subject, if it has one. */
export interface NamedEntry extends RecordedEntry {
  readonly name: string | undefined;
}

type Condition = (builder: ExpressionBuilder<Tables, 'audit'>) => Expression<SqlBool>;

/** Reads the audit log for operators. */
export class AuditLog {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Returns a page of entries, newest first, and where the next page begins. */
  async read(filter: AuditFilter, page: PageRequest): Promise<PageOf<NamedEntry>> {
    let query = this.#database.selectFrom('audit').selectAll();
    if (filter.action !== undefined) query = query.where('action', '=', filter.action);
    if (filter.actor !== undefined) query = query.where('actor', '=', filter.actor);
    if (filter.subject !== undefined) query = query.where(await this.#isAbout(filter.subject));
    const { rows, next } = await readPage(query, 'audit', 'id', page);
    const names = await this.#namesOf(rows.map(({ subject }) => subject));
    return { rows: rows.map((row) => ({ ...toEntry(row), name: names.get(row.subject) })), next };
  }

  /** Returns every action that has an entry. */
  async actions(): Promise<string[]> {
    const rows = await this.#database.selectFrom('audit').select('action').distinct().orderBy('action').execute();
    return rows.map(({ action }) => action);
  }

  /** Matches a subject. An account may be given by its address too, and includes its keys, deleted ones as well. */
  async #isAbout(subject: string): Promise<Condition> {
    const accountId = await findAccountId(this.#database, subject);
    if (accountId === undefined) return (where) => where('subject', '=', subject);
    const keys = this.#database.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
    const own = this.#database.selectNoFrom((select) => select.val(accountId).as('id'));
    return (where) => where('subject', 'in', keys.unionAll(own));
  }

  /** Names accounts by their address, and keys by their name and their account's address. */
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
