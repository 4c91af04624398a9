import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { gridName, UTC_DAYS } from './grid.ts';
import { readSummedUntil } from './history.ts';

/** A key as pages show it. Names may repeat, so a hint of its secret goes with them. */
export interface NamedKey {
  readonly id: string;
  readonly name: string;
  /** The beginning and end of its newest secret, such as `sk-tg-3fQx…9a1c`. */
  readonly hint: string;
  readonly isDeleted: boolean;
}

/** Reads every key an account has or had, so that usage of deleted keys still has a name. */
export async function readKeyNames(database: Kysely<Tables>, accountId: string): Promise<NamedKey[]> {
  const rows = await database
    .selectFrom('api_keys')
    // The secret of a trial is never shown to anyone.
    .leftJoin('key_secrets', (join) => join.onRef('key_secrets.key_id', '=', 'api_keys.id').on('key_secrets.is_trial', '=', 0n))
    .select(['api_keys.id', 'api_keys.name', 'api_keys.deleted_at', 'key_secrets.prefix', 'key_secrets.last_four'])
    .where('api_keys.account_id', '=', accountId)
    .orderBy('api_keys.created_at')
    .orderBy('key_secrets.created_at')
    .execute();
  const named = rows.map(({ id, name, deleted_at: deletedAt, prefix, last_four: lastFour }) => ({
    id,
    name,
    hint: prefix === null ? '' : `${prefix}…${lastFour}`,
    isDeleted: deletedAt !== null,
  }));
  // If a key has several secrets, the newest comes last and wins.
  return [...new Map(named.map((key) => [key.id, key])).values()];
}

/** Returns the models and providers that an account has used. */
export async function readUsedNames(database: Kysely<Tables>, accountId: string): Promise<{ models: string[]; providers: string[] }> {
  const history = await database
    .selectFrom('usage_past')
    .select(['dimension', 'model', 'provider'])
    .distinct()
    .where('account_id', '=', accountId)
    .where('grid', '=', gridName(UTC_DAYS))
    .where('dimension', 'in', ['model', 'provider'])
    .execute();
  const recent = await database
    .selectFrom('usage_rollups')
    .select(['model', 'provider'])
    .distinct()
    .where('account_id', '=', accountId)
    .where('quarter_hour', '>=', BigInt(await readSummedUntil(database, accountId, UTC_DAYS)))
    .execute();
  const collect = (dimension: 'model' | 'provider'): string[] => {
    return [...new Set([...history, ...recent].map((row) => row[dimension]))].filter((name) => name !== '').sort();
  };
  return { models: collect('model'), providers: collect('provider') };
}
