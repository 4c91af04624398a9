import { Hono } from 'hono';
import { makePlaygroundSecret } from '../../accounts/playground-key.ts';
import { TooManyError } from '../api-error.ts';
import type { Env, Dependencies } from '../dependencies.ts';

/** Gives the dashboard's own pages a secret to call `/v1` like any client. It is valid for an hour, and pages keep it in memory only. */
export function playgroundRoutes({ database: { kysely } }: Dependencies) {
  return new Hono<Env>().post('/key', async (c) => {
    const made = await makePlaygroundSecret(kysely, c.get('person').accountId);
    if (made.type === 'full')
      throw new TooManyError('The playground is open in too many places. Close some of them, or try again in an hour.', made.freeInMs);
    const { keyId, secret, expiresAtMs } = made;
    return c.json({ keyId, secret, expiresAtMs }, 201);
  });
}
