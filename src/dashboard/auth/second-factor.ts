import type { BetterAuthOptions } from 'better-auth';
import type { Kysely } from 'kysely';
import type { Tables } from '../../database/tables.ts';

type BeforeSession = NonNullable<NonNullable<NonNullable<NonNullable<BetterAuthOptions['databaseHooks']>['session']>['create']>['before']>;

const TOTP_PATH = '/two-factor/verify-totp';
const FACTOR_PATHS = new Set<string | undefined>([TOTP_PATH, '/two-factor/verify-backup-code', '/passkey/verify-authentication']);

/** Notes with a new session whether it has a second factor. Turning the factor on ends all sessions that began without one. */
export function noteSecondFactor(database: Kysely<Tables>): BeforeSession {
  return async ({ userId }, context) => {
    const path = context?.path;
    const earlier = context?.context.session;
    const isRenewed = earlier?.user.id === userId;
    if (isRenewed && path === TOTP_PATH) await database.deleteFrom('sessions').where('person_id', '=', userId).execute();
    return { data: { passedSecondFactor: FACTOR_PATHS.has(path) || (isRenewed && earlier?.session['passedSecondFactor'] === true) } };
  };
}
