import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What was recorded of one account is found, to be deleted or given to its owner, without reading what was recorded of all. */
export async function contentsByAccount(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = ['CREATE INDEX request_contents_by_account ON request_contents (account_id, request_id)'];
