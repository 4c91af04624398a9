import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Whether a session began with a second factor, which the pages of operators require. */
export async function sessionFactors(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const type = dialect === 'sqlite' ? 'INTEGER' : 'BOOLEAN';
  await runStatements(database, dialect, [`ALTER TABLE sessions ADD COLUMN passed_second_factor ${type}`]);
}
