import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../../database/tables.ts';

const NAME = 'auth';
const BYTES = 32;

/** The secret that signs cookies and links where none is set: made once, the same for all nodes of a database. */
export async function readSecret(database: Kysely<Tables>): Promise<string> {
  await database
    .insertInto('service_secrets')
    .values({ name: NAME, value: randomBytes(BYTES).toString('base64url'), created_at: Date.now() })
    // Two nodes may start together: what the first wrote counts.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await database.selectFrom('service_secrets').select('value').where('name', '=', NAME).executeTakeFirstOrThrow();
  return row.value;
}
