import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Display names of accounts and keys, by id. */
export interface OwnerNames {
  readonly emails: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** Returns the id of the account with this address or id. */
export async function findAccountId(database: Kysely<Tables>, text: string): Promise<string | undefined> {
  const row = await database
    .selectFrom('accounts')
    .select('id')
    .where((where) => where.or([where('email', '=', text.toLowerCase()), where('id', '=', text)]))
    .executeTakeFirst();
  return row?.id;
}

/** Returns the account of a key, also of a deleted one. */
export async function findOwnerOfKey(database: Kysely<Tables>, keyId: string): Promise<string | undefined> {
  return (await database.selectFrom('api_keys').select('account_id').where('id', '=', keyId).executeTakeFirst())?.account_id;
}

/**
 * Selects the id of an account and those of its keys, deleted ones as well. For one list PostgreSQL reads the rows about them in an index;
 * for two joined by "or" it reads all rows.
 */
export function accountAndKeys(database: Kysely<Tables>, accountId: string): SelectQueryBuilder<Tables, 'api_keys', { id: string }> {
  const keys = database.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
  return keys.unionAll(database.selectNoFrom((select) => select.val(accountId).as('id')));
}

/** Returns the addresses of these accounts and the names of these keys. */
export async function readOwnerNames(
  database: Kysely<Tables>,
  { accountIds, keyIds }: { readonly accountIds: readonly string[]; readonly keyIds: readonly string[] },
): Promise<OwnerNames> {
  const accounts =
    accountIds.length === 0 ? [] : await database.selectFrom('accounts').select(['id', 'email']).where('id', 'in', accountIds).execute();
  const keys = keyIds.length === 0 ? [] : await database.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', keyIds).execute();
  return { emails: new Map(accounts.map(({ id, email }) => [id, email])), keys: new Map(keys.map(({ id, name }) => [id, name])) };
}
