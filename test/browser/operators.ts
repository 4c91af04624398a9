import type { Kysely } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';

/** Makes a person an operator with a second factor. The invitation link and the factor itself have their own tests. */
export async function makeOperator(database: Kysely<Tables>, email: string): Promise<void> {
  await database.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
  await database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
  await database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
}
