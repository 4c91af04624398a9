import type { Kysely } from 'kysely';
import { tellSignIns } from '../../alerts/watch.ts';
import type { Tables } from '../../database/tables.ts';
import { HOUR_MS, MINUTE_MS } from '../../durations.ts';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';
import { FRESH_SECONDS } from './options.ts';

/** Who is signed in, and since when. */
export interface Session {
  readonly userId: string;
  readonly sessionId: string;
  readonly accountId: string | undefined;
  readonly name: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly hasTwoFactor: boolean;
  readonly signedInAtMs: number;
}

/** A session that nobody used for so long is over. */
const IDLE_MS = 12 * HOUR_MS;
/** How exactly it is known when a session was last used. */
const SEEN_MS = 5 * MINUTE_MS;
/** By then alerts were looked at, whatever a session does. */
const NEW_MS = 2 * MINUTE_MS;

/** The session of these headers' cookie. Sessions end by themselves when they are not used; those that are used are marked, now and then. */
export async function findSession(library: Library, database: Kysely<Tables>, headers: Headers): Promise<Session | undefined> {
  if (!headers.has('cookie')) return undefined;
  const found = await library.api.getSession({ headers });
  if (found === null) return undefined;
  const { session, user } = found;
  const unusedMs = Date.now() - session.updatedAt.getTime();
  if (unusedMs > IDLE_MS) {
    await database.deleteFrom('sessions').where('id', '=', session.id).execute();
    return undefined;
  }
  if (unusedMs > SEEN_MS)
    await database.updateTable('sessions').set({ updated_at: new Date().toISOString() }).where('id', '=', session.id).execute();
  if (typeof user.accountId === 'string' && Date.now() - session.createdAt.getTime() < NEW_MS)
    // Nobody is kept out because of an alert; it is looked at again soon.
    await tellSignIns(database, user.accountId).catch(() => undefined);
  return {
    userId: user.id,
    sessionId: session.id,
    accountId: user.accountId ?? undefined,
    name: user.name,
    email: user.email,
    isEmailVerified: user.emailVerified,
    hasTwoFactor: user.twoFactorEnabled === true,
    signedInAtMs: session.createdAt.getTime(),
  };
}

/** What the library says too where it asks for a fresh session. */
export const NOT_FRESH = 'This requires a sign-in within the last hour. Sign out, then sign in again.';

/** Refuses what only somebody may do who has just signed in. */
export function refuseStale({ signedInAtMs }: Pick<Session, 'signedInAtMs'>): void {
  if (Date.now() - signedInAtMs > FRESH_SECONDS * 1000) throw new ApiError('forbidden', NOT_FRESH);
}

/** Forgets sessions that nobody came back to. */
export async function endIdleSessions(database: Kysely<Tables>): Promise<void> {
  const idleSince = new Date(Date.now() - IDLE_MS).toISOString();
  await database.deleteFrom('sessions').where('updated_at', '<', idleSince).execute();
}
