import { sql, type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool } from 'kysely';
import { readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { toEntry, type RecordedEntry } from './audit.ts';
import { accountAndKeys, findAccountId } from './owners.ts';

/** Which entries to read. An undefined field matches everything. */
export interface AuditFilter {
  readonly action?: string | undefined;
  /** An address, or another actor such as the command line, in small or capital letters. */
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
    const { subject, actor, action } = filter;
    let query = this.#database.selectFrom('audit').selectAll();
    if (subject !== undefined) query = query.where(await this.#isAbout(subject));
    if (actor !== undefined)
      query = query.where(subject === undefined ? sql.ref('actor') : withoutIndex('actor'), '=', actor.toLowerCase());
    if (action !== undefined)
      query = query.where(subject === undefined && actor === undefined ? sql.ref('action') : withoutIndex('action'), '=', action);
    const { rows, next } = await readPage(query, 'audit', 'id', page);
    const names = await this.#namesOf(rows.map((row) => row.subject));
    return { rows: rows.map((row) => ({ ...toEntry(row), name: names.get(row.subject) })), next };
  }

  /** Returns every action that has an entry. Each step finds the next one in an index: there are few of them, and many entries. */
  async actions(): Promise<string[]> {
    const { rows } = await sql<{ action: string }>`WITH RECURSIVE listed (action) AS (
        SELECT MIN(action) FROM audit
        UNION ALL SELECT (SELECT MIN(audit.action) FROM audit WHERE audit.action > listed.action) FROM listed WHERE action IS NOT NULL
      ) SELECT action FROM listed WHERE action IS NOT NULL`.execute(this.#database);
    return rows.map(({ action }) => action);
  }

  /** Matches a subject. An account may be given by its address too, and includes its keys, deleted ones as well. */
  async #isAbout(subject: string): Promise<Condition> {
    const accountId = await findAccountId(this.#database, subject);
    if (accountId === undefined) return (where) => where('subject', '=', subject);
    return (where) => where('subject', 'in', accountAndKeys(this.#database, accountId));
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
      ...keys.map(({ id, name, email }) => [id, `${name === '' ? '' : `${name}, `}${email}`] as const),
    ]);
  }
}

/**
 * Names a column so that its index is not used. The embedded database cannot tell which index leads to fewer entries: an account has few of
 * them, a person some, an action any number.
 */
function withoutIndex(column: 'actor' | 'action'): RawBuilder<string> {
  return sql`${sql.ref(column)} || ''`;
}
