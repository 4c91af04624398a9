import type { Kysely } from 'kysely';
import { fireSignInAlerts } from '../../alerts/watch.ts';
import type { Tables } from '../../database/tables.ts';
import { HOUR_MS, MINUTE_MS } from '../../durations.ts';
import { ApiError } from '../api-error.ts';
import type { Library } from './library.ts';
import { FRESH_SECONDS } from './options.ts';

/** A session and its person. */
export interface Session {
  readonly userId: string;
  readonly sessionId: string;
  readonly accountId: string | undefined;
  readonly name: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly hasTwoFactor: boolean;
  /** Whether the session began with a second factor or a passkey. */
  readonly passedSecondFactor: boolean;
  readonly signedInAtMs: number;
}

/** A session ends after being unused for this long. */
const IDLE_MS = 12 * HOUR_MS;
/** The time of the last use is updated at most this often. */
const TOUCH_MS = 5 * MINUTE_MS;
/** Requests of a session younger than this check the sign-in alerts. By then the alert watcher has seen the session too. */
const NEW_MS = 2 * MINUTE_MS;

/** Returns the session of the cookie in these headers. Ends it if it was idle for too long; otherwise records its use from time to time. */
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
  if (unusedMs > TOUCH_MS)
    await database.updateTable('sessions').set({ updated_at: new Date().toISOString() }).where('id', '=', session.id).execute();
  if (typeof user.accountId === 'string' && Date.now() - session.createdAt.getTime() < NEW_MS)
    // A failing alert must not block the sign-in. The alert watcher checks again soon.
    await fireSignInAlerts(database, user.accountId).catch(() => undefined);
  return {
    userId: user.id,
    sessionId: session.id,
    accountId: user.accountId ?? undefined,
    name: user.name,
    email: user.email,
    isEmailVerified: user.emailVerified,
    hasTwoFactor: user.twoFactorEnabled === true,
    passedSecondFactor: session.passedSecondFactor === true,
    signedInAtMs: session.createdAt.getTime(),
  };
}

/** The message for a sign-in that is too old. Also replaces the library's own message. */
export const NOT_FRESH = 'This requires a sign-in within the last hour. Sign out, then sign in again.';

/** Throws unless the person signed in recently. */
export function refuseStale({ signedInAtMs }: Pick<Session, 'signedInAtMs'>): void {
  if (Date.now() - signedInAtMs > FRESH_SECONDS * 1000) throw new ApiError('forbidden', NOT_FRESH);
}

/** Deletes idle sessions. */
export async function endIdleSessions(database: Kysely<Tables>): Promise<void> {
  const idleSince = new Date(Date.now() - IDLE_MS).toISOString();
  await database.deleteFrom('sessions').where('updated_at', '<', idleSince).execute();
}
