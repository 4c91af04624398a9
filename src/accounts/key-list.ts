import type { Kysely } from 'kysely';
import { readOptional } from '../database/columns.ts';
import type { Tables } from '../database/tables.ts';
import { isReached, readBudgets, type KeyBudget, type KeyQuery } from './key-budgets.ts';
import { readSettings, type KeySettings } from './key-settings.ts';

/** A key as listed, without its secrets' text. */
export interface ListedKey extends KeySettings {
  readonly id: string;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | undefined;
  readonly status: KeyStatus;
  readonly budgets: readonly KeyBudget[];
  /** Newest first; more than one while a rotation overlaps. */
  readonly secrets: readonly ListedSecret[];
}

/** The parts of a secret that may be shown. */
export interface ListedSecret {
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly usedAtMs: number | undefined;
  /** Block of addresses that it was last used from. */
  readonly usedFrom: string | undefined;
}

/** Status of a key. If several apply, the first one counts. */
export type KeyStatus = 'disabled' | 'expired' | 'limit_reached' | 'rotating' | 'active';

/** Returns the keys of an account, without deleted ones, oldest first; with an id, only that key. */
export async function readKeys(database: Kysely<Tables>, accountId: string, id?: string): Promise<ListedKey[]> {
  const nowMs = Date.now();
  const listed = database
    .selectFrom('api_keys')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''));
  const rows = await listed.selectAll().orderBy('created_at').orderBy('id').execute();
  const ids = listed.select('id');
  const budgets = await readBudgets(database, ids, nowMs);
  const secrets = await readSecrets(database, ids, nowMs);
  return rows.map((row) => {
    const parts = { budgets: budgets.get(row.id) ?? [], secrets: secrets.get(row.id) ?? [] };
    const facts = { ...readSettings(row), ...parts, disabledAtMs: readOptional(row.disabled_at) };
    return { id: row.id, createdAtMs: Number(row.created_at), ...facts, status: statusOf(facts, nowMs) };
  });
}

function statusOf(key: Pick<ListedKey, 'disabledAtMs' | 'expiresAtMs' | 'budgets' | 'secrets'>, nowMs: number): KeyStatus {
  if (key.disabledAtMs !== undefined) return 'disabled';
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) return 'expired';
  if (key.budgets.some(isReached)) return 'limit_reached';
  return key.secrets.length > 1 ? 'rotating' : 'active';
}

/** Returns the valid secrets, by key id. */
async function readSecrets(database: Kysely<Tables>, keyIds: KeyQuery, nowMs: number): Promise<Map<string, ListedSecret[]>> {
  const secrets = new Map<string, ListedSecret[]>();
  const rows = await database
    .selectFrom('key_secrets')
    .leftJoin('key_uses', 'key_uses.secret_hash', 'key_secrets.hash')
    .select(['key_id', 'prefix', 'last_four', 'created_at', 'expires_at', 'used_at', 'address_range'])
    .where('key_id', 'in', keyIds)
    .where('is_trial', '=', 0n)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', BigInt(nowMs))]))
    .orderBy('created_at', 'desc')
    // Of two secrets from the same millisecond, the one that expires is the older: a rotation gave it an end.
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
