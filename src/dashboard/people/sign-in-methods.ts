import { sql, type Kysely, type Transaction } from 'kysely';
import { recordAudit, recordAction } from '../../accounts/audit.ts';
import type { Tables } from '../../database/tables.ts';
import type { Person } from '../person.ts';

/** The ways in which a person can sign in. */
export interface SignInMethods {
  readonly hasPassword: boolean;
  /** Linked accounts at identity providers, oldest first. */
  readonly linked: readonly { readonly id: string; readonly provider: string; readonly createdAt: string }[];
  readonly passkeys: readonly { readonly id: string }[];
}

/** The library's name for signing in with a password. */
export const PASSWORD = 'credential';

/** Reads the ways in which a person can sign in. */
export async function readSignInMethods(database: Kysely<Tables>, personId: string): Promise<SignInMethods> {
  const credentials = await database
    .selectFrom('credentials')
    .select(['id', 'provider_id', 'password', 'created_at'])
    .where('person_id', '=', personId)
    .orderBy('created_at')
    .execute();
  const passkeys = await database.selectFrom('passkeys').select('id').where('person_id', '=', personId).execute();
  return {
    hasPassword: credentials.some(({ provider_id, password }) => provider_id === PASSWORD && password !== null),
    linked: credentials
      .filter(({ provider_id }) => provider_id !== PASSWORD)
      .map(({ id, provider_id, created_at }) => ({ id, provider: provider_id, createdAt: new Date(created_at).toISOString() })),
    passkeys,
  };
}

/** A way to sign in that is to be removed. `providers` are the ones currently configured. */
export interface Removal {
  readonly person: Pick<Person, 'userId' | 'accountId' | 'email'>;
  readonly kind: 'linked' | 'passkeys';
  readonly id: string;
  readonly providers: ReadonlySet<string>;
}

/** Removes a way to sign in, unless it is the last usable one, so that people do not lock themselves out. */
export async function removeSignInMethod(
  database: Kysely<Tables>,
  { person, kind, id, providers }: Removal,
): Promise<'done' | 'last' | 'unknown'> {
  return database.transaction().execute(async (transaction) => {
    await lockPerson(transaction, person.userId);
    const methods = await readSignInMethods(transaction, person.userId);
    const removed = methods[kind].find((method) => method.id === id);
    if (removed === undefined) return 'unknown';
    const usable = methods.linked.filter(({ provider }) => providers.has(provider));
    const others = [...usable, ...methods.passkeys].filter((method) => method.id !== id);
    if (!methods.hasPassword && others.length === 0) return 'last';
    await transaction
      .deleteFrom(kind === 'linked' ? 'credentials' : 'passkeys')
      .where('id', '=', id)
      .execute();
    const before = 'provider' in removed ? String(removed.provider) : 'passkey';
    await recordAudit(transaction, {
      actor: person.email,
      action: 'sign-in.remove',
      subject: person.accountId,
      changes: [{ field: 'sign-in', before, after: null }],
    });
    return 'done';
  });
}

/** Locks the person by writing first: of two simultaneous removals, the second sees the result of the first. */
export async function lockPerson(transaction: Transaction<Tables>, personId: string): Promise<void> {
  await transaction
    .updateTable('people')
    .set((columns) => ({ name: columns.ref('name') }))
    .where('id', '=', personId)
    .execute();
}

/**
 * Records a new linked account in the audit log. Runs before the link is created, so that no link lacks its entry. Returns the person's
 * address.
 */
export async function recordLink(database: Kysely<Tables>, personId: string, provider: string): Promise<string | undefined> {
  const person = await database.selectFrom('people').select(['email', 'account_id']).where('id', '=', personId).executeTakeFirst();
  if (person === undefined) return undefined;
  const changes = [{ field: 'sign-in', before: null, after: provider }];
  const entry = { actor: person.email, action: 'sign-in.add', subject: person.account_id ?? personId, changes };
  await recordAction(database, entry);
  return person.email;
}

/** Invalidates password reset links that were sent earlier, after the address or the password has changed. */
export async function endResetLinks(database: Kysely<Tables>, personId: string): Promise<void> {
  await sql`DELETE FROM verifications WHERE value = ${personId}`.execute(database);
}

/**
 * Returns when a person last got a password or a linked account; the first one came with the person. A link to another address that was
 * sent before is invalid: somebody who can no longer sign in may have requested it, and could still get the owner to open it.
 */
export async function signInChangedAtSeconds(database: Kysely<Tables>, personId: string): Promise<number> {
  const { changed_at } = await database
    .selectFrom('credentials')
    .select(({ fn }) => fn.max('updated_at').as('changed_at'))
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return changed_at === null ? 0 : Math.floor(new Date(changed_at).getTime() / 1000);
}
