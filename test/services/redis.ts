import { findRedis, startPrivateRedis } from './private-redis.ts';

export { findRedis, startPrivateRedis };

/**
 * The server that all suites of a run share; undefined where there is none, and then their tests are to be skipped:
 * `describe.skipIf(redisUrl === undefined)`. It is not emptied between suites: each gives its keys a prefix of its own.
 *
 * Started by the first test file that imports this one, for the reasons told in `postgres.ts`.
 */
export const redisUrl: string | undefined = process.env['TEST_REDIS_URL'] ?? (await startShared());

async function startShared(): Promise<string | undefined> {
  return (await findRedis()) === undefined ? undefined : (await startPrivateRedis()).url;
}
