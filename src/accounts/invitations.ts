import { createHash, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** A link that lets somebody in once. */
export interface Invitation {
  readonly kind: 'operator' | 'person';
  /** Whom it is for; undefined for whoever has it. */
  readonly email: string | undefined;
  readonly state: 'open' | 'used' | 'expired';
}

const TOKEN_BYTES = 32;
/** How long links live that nobody uses. */
export const OPERATOR_LINK_MS = 24 * 3600 * 1000;
export const INVITATION_MS = 7 * OPERATOR_LINK_MS;

/** Invitations and the first operator's link. Of a token only the hash is kept: who reads the database gets in nowhere. */
export class Invitations {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Makes an invitation and gives its token, which cannot be had a second time. */
  async create({ kind, email, lifeMs }: Pick<Invitation, 'kind' | 'email'> & { readonly lifeMs: number }): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const nowMs = Date.now();
    await this.#database
      .insertInto('invitations')
      .values({ token_hash: hashOf(token), kind, email: email ?? null, expires_at: nowMs + lifeMs, used_at: null, created_at: nowMs })
      .execute();
    return token;
  }

  async find(token: string): Promise<Invitation | undefined> {
    const row = await this.#database.selectFrom('invitations').selectAll().where('token_hash', '=', hashOf(token)).executeTakeFirst();
    if (row === undefined) return undefined;
    const isOver = Number(row.expires_at) <= Date.now();
    return { kind: row.kind, email: row.email ?? undefined, state: row.used_at === null ? (isOver ? 'expired' : 'open') : 'used' };
  }

  /** Uses an invitation up; false when somebody did already. */
  async use(token: string): Promise<boolean> {
    const nowMs = Date.now();
    const { numUpdatedRows } = await this.#database
      .updateTable('invitations')
      .set({ used_at: nowMs })
      .where('token_hash', '=', hashOf(token))
      .where('used_at', 'is', null)
      .where('expires_at', '>', BigInt(nowMs))
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Gives an invitation back that was used for something that then failed. */
  async giveBack(token: string): Promise<void> {
    await this.#database.updateTable('invitations').set({ used_at: null }).where('token_hash', '=', hashOf(token)).execute();
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
