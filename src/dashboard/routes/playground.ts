import { Hono } from 'hono';
import { makePlaygroundSecret } from '../../accounts/playground-key.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Parts } from '../parts.ts';

/** Lets the dashboard's own pages call `/v1` as any program would: with a key, which lives for an hour and in memory only. */
export function playgroundRoutes({ database: { kysely } }: Parts) {
  return new Hono<Env>().post('/key', async (c) => {
    const made = await makePlaygroundSecret(kysely, c.get('person').accountId);
    if (made === undefined)
      throw new ApiError('too_many', 'The playground is open in too many places. Close some, or try again in an hour.');
    return c.json(made, 201);
  });
}
