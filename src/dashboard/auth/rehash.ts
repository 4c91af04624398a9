import type { Kysely } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import type { Hashing } from './hashing.ts';

/** A right password, and whose it is. */
interface KnownPassword {
  readonly email: string;
  readonly password: string;
}

/** Replaces a hash that was made in an older way, now that the password is at hand. */
export async function rehash(database: Kysely<Tables>, hashing: Hashing, { email, password }: KnownPassword): Promise<void> {
  const credential = await database
    .selectFrom('credentials')
    .innerJoin('people', 'people.id', 'credentials.person_id')
    .select(['credentials.id', 'credentials.password'])
    .where('people.email', '=', email)
    .where('credentials.provider_id', '=', 'credential')
    .executeTakeFirst();
  const old = credential?.password ?? undefined;
  if (credential === undefined || old === undefined || hashing.isCurrent(old)) return;
  const changed = database.updateTable('credentials').set({ password: await hashing.hash(password) });
  // A password that was changed meanwhile stays.
  await changed.where('id', '=', credential.id).where('password', '=', old).execute();
}
