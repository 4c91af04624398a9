import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Operators read the record of changes from its newest entry on, whatever it is about. */
export async function auditByTime(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = ['CREATE INDEX audit_by_time ON audit (created_at, id)', 'CREATE INDEX audit_by_action ON audit (action)'];
