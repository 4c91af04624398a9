import { Hono } from 'hono';
import { Keys } from '../../accounts/keys.ts';
import { isPlayground } from '../../accounts/playground-key.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Parts } from '../parts.ts';

/** The first steps of an account: which of them are done, by what really happened. */
export function startRoutes({ database: { kysely } }: Parts) {
  const countKeys = async (accountId: string): Promise<number> => {
    const { count } = await kysely
      .selectFrom('api_keys')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .where((where) => where.not(isPlayground(where)))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const hasBalance = async (accountId: string): Promise<boolean> => {
    const wallet = await kysely.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirst();
    return wallet !== undefined && wallet.credits_posted > wallet.debits_posted;
  };
  /** Roll-ups outlive the rows of single requests, so the tick stays. */
  const hasAnswer = async (accountId: string): Promise<boolean> => {
    const row = await kysely
      .selectFrom('usage_rollups')
      .select('requests')
      .where('account_id', '=', accountId)
      .whereRef('requests', '>', 'errors')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  };

  return new Hono<Env>()
    .get('/', async (c) => {
      const { accountId, isEmailVerified } = c.get('person');
      const [keys, isFunded, isAnswered] = await Promise.all([countKeys(accountId), hasBalance(accountId), hasAnswer(accountId)]);
      return c.json({ isEmailVerified, hasKey: keys > 0, isFunded, isAnswered });
    })
    .post('/key', async (c) => {
      const { accountId } = c.get('person');
      if ((await countKeys(accountId)) > 0)
        throw new ApiError('conflict', 'You have a key already. Make another one under API keys, where it gets its own limits.');
      const { id, secret } = await new Keys(kysely).create(accountId, { name: 'First key' });
      return c.json({ id, secret }, 201);
    });
}
