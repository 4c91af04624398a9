import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Accounts closed within the last day are found without reading all accounts, while requests wait. */
export async function closedAccounts(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = ['CREATE INDEX accounts_closed ON accounts (closed_at) WHERE closed_at IS NOT NULL'];
