import { Hono } from 'hono';
import { formatUsd, asNanos } from '../../ledger/money.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Parts } from '../parts.ts';

/** The account of the person who is signed in: what every page shows at its top. */
export function accountRoutes({ database: { kysely } }: Parts) {
  return new Hono<Env>().get('/', async (c) => {
    const { accountId, email, isEmailVerified, isOperator } = c.get('person');
    const wallet = await kysely.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirst();
    if (wallet === undefined) throw new ApiError('not_found', 'This account has no wallet.');
    const balance = wallet.credits_posted - wallet.debits_posted;
    return c.json({
      id: accountId,
      email,
      isEmailVerified,
      isOperator,
      balanceUsd: formatUsd(asNanos(balance)),
      heldUsd: formatUsd(asNanos(wallet.debits_pending)),
      availableUsd: formatUsd(asNanos(balance - wallet.debits_pending)),
    });
  });
}
