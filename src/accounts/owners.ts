import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** What people know accounts and keys by. */
export interface OwnerNames {
  readonly emails: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** The id of the account that an address or an id names. */
export async function findAccountId(database: Kysely<Tables>, text: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('accounts')
    .select('id')
    .where((where) => where.or([where('email', '=', text.toLowerCase()), where('id', '=', text)]))
    .executeTakeFirst();
  return row?.id;
}

/** Whose key this is, or was. */
export async function findOwnerOfKey(database: Kysely<Tables>, keyId: string): Promise<string | undefined> {
  return (await database.selectFrom('api_keys').select('account_id').where('id', '=', keyId).executeTakeFirst())?.account_id;
}

/** The addresses of some accounts, and the names of some keys. */
export async function readOwnerNames(
  database: Kysely<Tables>,
  { accountIds, keyIds }: { readonly accountIds: readonly string[]; readonly keyIds: readonly string[] },
): Promise<OwnerNames> {
  const accounts =
    accountIds.length === 0 ? [] : await database.selectFrom('accounts').select(['id', 'email']).where('id', 'in', accountIds).execute();
  const keys = keyIds.length === 0 ? [] : await database.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', keyIds).execute();
  return { emails: new Map(accounts.map(({ id, email }) => [id, email])), keys: new Map(keys.map(({ id, name }) => [id, name])) };
}
