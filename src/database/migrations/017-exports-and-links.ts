import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * Every node looks every few seconds for exports to prepare and for those to throw away, and finds them without reading all. And the
 * record of changes calls an account elsewhere that was linked or unlinked what it is: a way to sign in.
 */
export async function exportsAndLinks(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

/** Some databases have the indexes already: they were made with the tables for a while. */
const STATEMENTS = [
  "CREATE INDEX IF NOT EXISTS export_jobs_due ON export_jobs (created_at) WHERE state IN ('waiting', 'running')",
  "CREATE INDEX IF NOT EXISTS export_jobs_dropped ON export_jobs (created_at) WHERE state = 'dropped'",
  'CREATE INDEX IF NOT EXISTS export_jobs_by_end ON export_jobs (expires_at)',
  "UPDATE audit SET action = 'sign-in.add' WHERE action = 'link'",
  "UPDATE audit SET action = 'sign-in.remove' WHERE action = 'unlink'",
];
