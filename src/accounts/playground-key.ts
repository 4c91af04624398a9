import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { makeId } from '../ids.ts';
import { hashSecret, makeSecret, shownParts } from './key-secret.ts';

/** Id prefix of the keys that the dashboard itself uses for calls. */
const PREFIX = 'play';

/** A secret for the browser; or, if too many are valid, how long until one of them expires. */
export type PlaygroundSecret =
  | { readonly type: 'made'; readonly keyId: string; readonly secret: string; readonly expiresAtMs: number }
  | { readonly type: 'full'; readonly freeInMs: number };

const LIFE_MS = HOUR_MS;
/** The most valid secrets at once: more than a person has open tabs, and too few to be worth collecting. */
const SECRETS_MAX = 20;

/**
 * Creates a secret, valid for an hour, for the one key that an account's dashboard uses. It is a key like any other: the ledger records
 * what it spends, and it can be deleted.
 */
export async function makePlaygroundSecret(database: Kysely<Tables>, accountId: string): Promise<PlaygroundSecret> {
  const nowMs = Date.now();
  const expiresAtMs = nowMs + LIFE_MS;
  const secret = makeSecret();
  const { prefix, lastFour } = shownParts(secret);
  return inTransaction(database, async (transaction) => {
    await transaction
      .deleteFrom('key_secrets')
      .where('expires_at', '<=', BigInt(nowMs))
      .where('key_id', 'in', (where) => where.selectFrom('api_keys').select('id').where('account_id', '=', accountId).where(isPlayground))
      .execute();
    const keyId = await findOrCreateKey(transaction, accountId);
    const alive = await transaction
      .selectFrom('key_secrets')
      .select(({ fn }) => [fn.countAll().as('count'), fn.min('expires_at').as('ends_at')])
      .where('key_id', '=', keyId)
      .executeTakeFirstOrThrow();
    if (Number(alive.count) >= SECRETS_MAX) return { type: 'full', freeInMs: Number(alive.ends_at ?? nowMs) - nowMs };
    await transaction
      .insertInto('key_secrets')
      .values({ hash: hashSecret(secret), key_id: keyId, prefix, last_four: lastFour, created_at: nowMs, expires_at: expiresAtMs })
      .execute();
    return { type: 'made', keyId, secret, expiresAtMs };
  });
}

/** Matches playground keys. Ids start with their kind, so those of one kind form a range. */
export function isPlayground(where: ExpressionBuilder<Tables, 'api_keys'>): Expression<SqlBool> {
  return where.and([where('api_keys.id', '>', `${PREFIX}_`), where('api_keys.id', '<', `${PREFIX}_~`)]);
}

/** Returns true for the id of a playground key. */
export function isPlaygroundKey(id: string): boolean {
  return id.startsWith(`${PREFIX}_`);
}

async function findOrCreateKey(database: Kysely<Tables>, accountId: string): Promise<string> {
  const found = await database
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', accountId)
    .where(isPlayground)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (found !== undefined) return found.id;
  const id = makeId(PREFIX);
  await database.insertInto('api_keys').values({ id, account_id: accountId, name: 'Playground', created_at: Date.now() }).execute();
  return id;
}
