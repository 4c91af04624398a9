import { hash, randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { differences, recordAudit } from './audit.ts';

/** A sign-up link that works once. */
export interface Invitation {
  readonly kind: 'operator' | 'person';
  /** The only address that may use it; undefined if anybody with the link may. */
  readonly email: string | undefined;
  readonly state: 'open' | 'used' | 'expired';
}

/** An invitation that has not been used yet. */
export interface OpenInvitation {
  /** Identifies the invitation to operators. It cannot be used to sign up. */
  readonly id: string;
  readonly kind: Invitation['kind'];
  readonly email: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

const TOKEN_BYTES = 32;
const ID_CHARS = 16;
/** How long unused links are valid. */
export const OPERATOR_LINK_MS = DAY_MS;
const INVITATION_MS = 7 * OPERATOR_LINK_MS;

/** Invitations and the first operator's link. Only the hash of a token is stored, so reading the database gives no access. */
export class Invitations {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Creates an invitation and returns its token, which cannot be read again later. */
  async create({ kind, email, lifeMs }: Pick<Invitation, 'kind' | 'email'> & { readonly lifeMs: number }): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const nowMs = Date.now();
    await this.#database
      .insertInto('invitations')
      .values({ token_hash: hashOf(token), kind, email: email ?? null, expires_at: nowMs + lifeMs, used_at: null, created_at: nowMs })
      .execute();
    return token;
  }

  /** Returns true if none was ever created. */
  async isEmpty(): Promise<boolean> {
    const row = await this.#database.selectFrom('invitations').select('kind').limit(1).executeTakeFirst();
    return row === undefined;
  }

  /** Returns the valid invitations, newest first. */
  async listOpen(rowsMax: number): Promise<OpenInvitation[]> {
    const rows = await this.#database
      .selectFrom('invitations')
      .selectAll()
      .where('used_at', 'is', null)
      .where('expires_at', '>', BigInt(Date.now()))
      .orderBy('created_at', 'desc')
      .limit(rowsMax)
      .execute();
    return rows.map(({ token_hash, kind, email, created_at: created, expires_at: expires }) => ({
      id: token_hash.slice(0, ID_CHARS),
      kind,
      email,
      createdAtMs: Number(created),
      expiresAtMs: Number(expires),
    }));
  }

  /** Revokes an open invitation. Returns false if there is none. */
  async withdraw(id: string, actor: string): Promise<boolean> {
    const nowMs = Date.now();
    return this.#database.transaction().execute(async (transaction) => {
      const withdrawn = await transaction
        .updateTable('invitations')
        .set({ expires_at: nowMs })
        .where(sql`substr(token_hash, 1, ${sql.lit(ID_CHARS)})`, '=', id)
        .where('used_at', 'is', null)
        .where('expires_at', '>', BigInt(nowMs))
        .returning(['kind', 'email'])
        .executeTakeFirst();
      if (withdrawn === undefined) return false;
      await recordAudit(transaction, { actor, action: 'invitation.withdraw', subject: id, changes: differences({ ...withdrawn }, {}) });
      return true;
    });
  }

  /** Expires all open links for operators. Returns how many there were. */
  async withdrawForOperators(): Promise<number> {
    const nowMs = Date.now();
    const { numUpdatedRows } = await this.#database
      .updateTable('invitations')
      .set({ expires_at: nowMs })
      .where('kind', '=', 'operator')
      .where('used_at', 'is', null)
      .where('expires_at', '>', BigInt(nowMs))
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Expires the invitations for an address and deletes the address from them. Returns their ids. */
  async forget(email: string): Promise<string[]> {
    const forgotten = this.#database.updateTable('invitations').set({ email: null, expires_at: Date.now() }).where('email', '=', email);
    const rows = await forgotten.returning('token_hash').execute();
    return rows.map(({ token_hash }) => token_hash.slice(0, ID_CHARS));
  }

  async find(token: string): Promise<Invitation | undefined> {
    const row = await this.#database.selectFrom('invitations').selectAll().where('token_hash', '=', hashOf(token)).executeTakeFirst();
    if (row === undefined) return undefined;
    const isOver = Number(row.expires_at) <= Date.now();
    return { kind: row.kind, email: row.email ?? undefined, state: row.used_at === null ? (isOver ? 'expired' : 'open') : 'used' };
  }

  /** Marks an invitation as used. Returns false if it was used already or has expired. */
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

  /** Makes an invitation usable again after the sign-up that used it failed. */
  async giveBack(token: string): Promise<void> {
    await this.#database.updateTable('invitations').set({ used_at: null }).where('token_hash', '=', hashOf(token)).execute();
  }
}

interface LinkOrder extends Pick<Invitation, 'kind' | 'email'> {
  /** Public address of the service. */
  readonly url: string;
  readonly actor: string;
}

/** Creates a link for signing up once. It is valid for a week, or for a day if it is for an operator. */
export async function inviteByLink(
  database: Kysely<Tables>,
  { kind, email, url, actor }: LinkOrder,
): Promise<{ readonly link: string; readonly expiresAtMs: number }> {
  const lifeMs = kind === 'operator' ? OPERATOR_LINK_MS : INVITATION_MS;
  const token = await database.transaction().execute(async (transaction) => {
    const made = await new Invitations(transaction).create({ kind, email, lifeMs });
    const subject = hashOf(made).slice(0, ID_CHARS);
    await recordAudit(transaction, { actor, action: 'invitation.create', subject, changes: differences({}, { kind, email }) });
    return made;
  });
  return { link: `${url}${kind === 'operator' ? '/setup?token=' : '/sign-up?invitation='}${token}`, expiresAtMs: Date.now() + lifeMs };
}

function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
