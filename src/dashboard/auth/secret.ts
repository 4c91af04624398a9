import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../../database/tables.ts';

const NAME = 'auth';
const BYTES = 32;

/** Returns the generated secret that signs cookies and links when none is configured. All nodes of a database share it. */
export async function readSecret(database: Kysely<Tables>): Promise<string> {
  await database
    .insertInto('service_secrets')
    .values({ name: NAME, value: randomBytes(BYTES).toString('base64url'), created_at: Date.now() })
    // If two nodes start together, the first one's value is used.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await database.selectFrom('service_secrets').select('value').where('name', '=', NAME).executeTakeFirstOrThrow();
  return row.value;
}
