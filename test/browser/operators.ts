import type { Kysely } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';

/** Makes somebody an operator with a second factor; the link and the factor themselves have tests of their own. */
export async function makeOperator(database: Kysely<Tables>, email: string): Promise<void> {
  await database.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
  await database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
}
