import { findRedis, startPrivateRedis } from './private-redis.ts';

export { findRedis, startPrivateRedis };

/**
 * The server that all suites of a run share; undefined if there is none. Skip tests with
 * `describe.skipIf(redisUrl === undefined)`. It is not emptied between suites: each suite prefixes its keys.
 *
 * The first test file that imports this one starts it, for the reasons given in `postgres.ts`.
 */
export const redisUrl: string | undefined = process.env['TEST_REDIS_URL'] ?? (await startShared());

async function startShared(): Promise<string | undefined> {
  return (await findRedis()) === undefined ? undefined : (await startPrivateRedis()).url;
}
