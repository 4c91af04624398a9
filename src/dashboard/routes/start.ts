import { Hono } from 'hono';
import { isPlayground } from '../../accounts/playground-key.ts';
import { readWallet } from '../../ledger/credit.ts';
import type { Env, Dependencies } from '../dependencies.ts';

/** Which first steps of an account are done, judged by its real data. */
export function startRoutes({ database: { kysely } }: Dependencies) {
  const ownsKey = async (accountId: string): Promise<boolean> => {
    const key = await kysely
      .selectFrom('api_keys')
      .select('id')
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .where((where) => where.not(isPlayground(where)))
      .limit(1)
      .executeTakeFirst();
    return key !== undefined;
  };
  const hasBalance = async (accountId: string): Promise<boolean> => (await readWallet(kysely, accountId)).balance > 0n;
  /** Reads roll-ups, which outlive the rows of single requests, so the step stays done. */
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

  return new Hono<Env>().get('/', async (c) => {
    const { accountId, isEmailVerified } = c.get('person');
    const [hasKey, isFunded, isAnswered] = await Promise.all([ownsKey(accountId), hasBalance(accountId), hasAnswer(accountId)]);
    return c.json({ isEmailVerified, hasKey, isFunded, isAnswered });
  });
}
