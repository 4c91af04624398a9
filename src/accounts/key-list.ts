import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { isReached, readBudgets, type KeyBudget } from './key-budgets.ts';
import { readOptional, readSettings, type KeySettings } from './key-settings.ts';

/** A key as people see it. */
export interface ListedKey extends KeySettings {
  readonly id: string;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | undefined;
  readonly status: KeyStatus;
  readonly budgets: readonly KeyBudget[];
  /** Newest first; more than one while a rotation overlaps. */
  readonly secrets: readonly ListedSecret[];
}

/** What may be told of a secret. */
export interface ListedSecret {
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly usedAtMs: number | undefined;
  /** The block of addresses that it was last used from. */
  readonly usedFrom: string | undefined;
}

/** Of several that are true, the first is told. */
export type KeyStatus = 'disabled' | 'expired' | 'limit_reached' | 'rotating' | 'active';

/** The living keys of an account as they are at a moment, oldest first; with an id, that one only. */
export async function readKeys(
  database: Kysely<Tables>,
  accountId: string,
  { id, nowMs = Date.now() }: { readonly id?: string; readonly nowMs?: number } = {},
): Promise<ListedKey[]> {
  const rows = await database
    .selectFrom('api_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const ids = rows.map((row) => row.id);
  const budgets = await readBudgets(database, ids, nowMs);
  const secrets = await readSecrets(database, ids);
  return rows.map((row) => describeKey(row, { budgets: budgets.get(row.id) ?? [], secrets: secrets.get(row.id) ?? [], nowMs }));
}

interface Parts {
  readonly budgets: readonly KeyBudget[];
  readonly secrets: readonly ListedSecret[];
  readonly nowMs: number;
}

function describeKey(row: Selectable<Tables['api_keys']>, { budgets, secrets, nowMs }: Parts): ListedKey {
  const settings = readSettings(row);
  const facts = { ...settings, disabledAtMs: readOptional(row.disabled_at), budgets, secrets };
  return { id: row.id, createdAtMs: Number(row.created_at), ...facts, status: statusOf(facts, nowMs) };
}

function statusOf(key: Pick<ListedKey, 'disabledAtMs' | 'expiresAtMs' | 'budgets' | 'secrets'>, nowMs: number): KeyStatus {
  if (key.disabledAtMs !== undefined) return 'disabled';
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) return 'expired';
  if (key.budgets.some(isReached)) return 'limit_reached';
  return key.secrets.length > 1 ? 'rotating' : 'active';
}

/** The secrets that still open something, by the id of the key. */
async function readSecrets(database: Kysely<Tables>, keyIds: readonly string[]): Promise<Map<string, ListedSecret[]>> {
  const secrets = new Map<string, ListedSecret[]>();
  if (keyIds.length === 0) return secrets;
  const rows = await database
    .selectFrom('key_secrets')
    .leftJoin('key_uses', 'key_uses.secret_hash', 'key_secrets.hash')
    .select(['key_id', 'prefix', 'last_four', 'created_at', 'expires_at', 'used_at', 'address_range'])
    .where('key_id', 'in', keyIds)
    .where('is_trial', '=', 0n)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', BigInt(Date.now()))]))
    .orderBy('created_at', 'desc')
    // Of two of the same millisecond, the one that a rotation has ended is the older.
    .orderBy('expires_at', (order) => order.desc().nullsFirst())
    .execute();
  for (const row of rows) {
    const secret = {
      prefix: row.prefix,
      lastFour: row.last_four,
      createdAtMs: Number(row.created_at),
      expiresAtMs: readOptional(row.expires_at),
      usedAtMs: readOptional(row.used_at),
      usedFrom: row.address_range === null || row.address_range === '' ? undefined : row.address_range,
    };
    secrets.set(row.key_id, [...(secrets.get(row.key_id) ?? []), secret]);
  }
  return secrets;
}
