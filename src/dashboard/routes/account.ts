import { Hono } from 'hono';
import { Keys } from '../../accounts/keys.ts';
import { isPlayground } from '../../accounts/playground-key.ts';
import { readWallet } from '../../ledger/credit.ts';
import { formatUsd } from '../../ledger/money.ts';
import { ApiError } from '../api-error.ts';
import type { Banners } from '../banners.ts';
import type { Env, Dependencies } from '../dependencies.ts';

/** The signed-in person's account, shown at the top of every page. */
export function accountRoutes({ database: { kysely } }: Dependencies, banners: Banners) {
  return new Hono<Env>()
    .post('/first-key', async (c) => {
      const { accountId } = c.get('person');
      if (!(await claimFirstKey(kysely, accountId)))
        throw new ApiError('conflict', 'This account already has had a key. Create another one under API keys.');
      const { id, secret, prefix, lastFour } = await new Keys(kysely).create(accountId, { name: 'First key' });
      return c.json({ id, secret, prefix, lastFour });
    })
    .get('/', async (c) => {
      const { accountId, name, email, isEmailVerified, isOperator, hasTwoFactor } = c.get('person');
      const { balance, held, available } = await readWallet(kysely, accountId);
      return c.json({
        id: accountId,
        email,
        isEmailVerified,
        isOperator,
        name,
        hasTwoFactor,
        balanceUsd: formatUsd(balance),
        heldUsd: formatUsd(held),
        availableUsd: formatUsd(available),
        banner: (await banners.read()) ?? null,
      });
    });
}

/** Returns true once per account, even if several pages ask for the first key at the same moment. */
async function claimFirstKey(kysely: Dependencies['database']['kysely'], accountId: string): Promise<boolean> {
  const key = await kysely
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', accountId)
    .where((where) => where.not(isPlayground(where)))
    .limit(1)
    .executeTakeFirst();
  if (key !== undefined) return false;
  const { numInsertedOrUpdatedRows } = await kysely
    .insertInto('first_keys')
    .values({ account_id: accountId, created_at: Date.now() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
