import type { Kysely } from 'kysely';
import { Accounts } from '../../accounts/accounts.ts';
import type { Tables } from '../../database/tables.ts';

/** The person who claims an account. */
interface Claimant {
  readonly id: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
}

/**
 * Assigns a person the account of their email address: a new one, or one that was created on the command line and has no owner. The
 * latter may hold money, so it requires a verified address. Returns undefined until the address is verified.
 */
export async function claimAccount(database: Kysely<Tables>, person: Claimant): Promise<string | undefined> {
  const created = await new Accounts(database).create(person.email, false);
  if (created === undefined && !person.isEmailVerified) return undefined;
  const found = created ?? (await new Accounts(database).find(person.email));
  if (found === undefined) return undefined;
  const { numUpdatedRows } = await database
    .updateTable('people')
    .set({ account_id: found.id })
    .where('id', '=', person.id)
    .where('account_id', 'is', null)
    // An account that already has an owner keeps them.
    .where((where) =>
      where.not(where.exists(where.selectFrom('people as owner').select('owner.id').where('owner.account_id', '=', found.id))),
    )
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return findAccountId(database, person.id);
  // Sessions are older than the proof of the address.
  if (found.isAdmin) await database.deleteFrom('sessions').where('person_id', '=', person.id).execute();
  return found.id;
}

/** Makes the person an operator. */
export async function makeOperator(database: Kysely<Tables>, person: Claimant): Promise<void> {
  const accountId = await claimAccount(database, person);
  if (accountId === undefined) throw new Error(`The account of ${person.email} belongs to somebody else`);
  await database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', accountId).execute();
}

/** Whether an account has operator rights. A suspended account has none: otherwise it could resume itself. */
export async function isOperator(database: Kysely<Tables>, accountId: string): Promise<boolean> {
  const row = await database.selectFrom('accounts').select(['is_admin', 'status']).where('id', '=', accountId).executeTakeFirst();
  return row?.is_admin === 1n && row.status === 'active';
}

async function findAccountId(database: Kysely<Tables>, personId: string): Promise<string | undefined> {
  const row = await database.selectFrom('people').select('account_id').where('id', '=', personId).executeTakeFirst();
  return row?.account_id ?? undefined;
}
