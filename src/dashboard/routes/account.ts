import { Hono } from 'hono';
import { z } from 'zod';
import { Keys } from '../../accounts/keys.ts';
import { redeem, type RedeemRefusal } from '../../accounts/redeem.ts';
import { formatUsd, asNanos } from '../../ledger/money.ts';
import { ApiError } from '../api-error.ts';
import type { Env, Parts } from '../parts.ts';
import { validate } from '../validate.ts';

const codeSchema = z.strictObject({ code: z.string().max(100) });

/** The account of the person who is signed in: what every page shows at its top. */
export function accountRoutes({ auth, database: { kysely } }: Parts) {
  return new Hono<Env>()
    .post('/first-key', async (c) => {
      const { accountId } = c.get('person');
      if (!(await claimFirstKey(kysely, accountId)))
        throw new ApiError('conflict', 'This account has had a key already. Make another one under API keys.');
      const { id, secret, prefix, lastFour } = await new Keys(kysely).create(accountId, { name: 'First key' });
      return c.json({ id, secret, prefix, lastFour });
    })
    .post('/code', validate('json', codeSchema), async (c) => {
      const { accountId } = c.get('person');
      const address = auth.networkOf(c.req.raw.headers, c.env.address);
      const result = await redeem(kysely, { accountId, code: c.req.valid('json').code, address, nowMs: Date.now() });
      if (result.type === 'refused')
        throw new ApiError(result.why === 'too_many_tries' ? 'too_many' : 'conflict', REFUSALS[result.why], 'code');
      return c.json({ isDone: true });
    })
    .get('/', async (c) => {
      const { accountId, name, email, isEmailVerified, isOperator, hasTwoFactor } = c.get('person');
      const wallet = await kysely.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirst();
      if (wallet === undefined) throw new ApiError('not_found', 'This account has no wallet.');
      const balance = wallet.credits_posted - wallet.debits_posted;
      return c.json({
        id: accountId,
        email,
        isEmailVerified,
        isOperator,
        name,
        hasTwoFactor,
        balanceUsd: formatUsd(asNanos(balance)),
        heldUsd: formatUsd(asNanos(wallet.debits_pending)),
        availableUsd: formatUsd(asNanos(balance - wallet.debits_pending)),
      });
    });
}

const REFUSALS: Readonly<Record<RedeemRefusal, string>> = {
  unknown: 'There is no such code. Is it spelt right?',
  not_yet_valid: 'This code is not valid yet.',
  expired: 'This code is no longer valid.',
  stopped: 'This code was withdrawn.',
  used_up: 'This code was used as often as it may be.',
  already_used: 'You have used this code already.',
  new_accounts_only: 'This code is for new accounts only.',
  needs_top_up: 'This code needs a payment first. Redeem it under Billing after you have paid.',
  has_plan: 'This code gives a plan, and you have one already.',
  too_many_tries: 'Too many codes were tried. Wait a while.',
};

/** The first key is made once per account, however many pages ask for it at the same moment. */
async function claimFirstKey(kysely: Parts['database']['kysely'], accountId: string): Promise<boolean> {
  const key = await kysely.selectFrom('api_keys').select('id').where('account_id', '=', accountId).limit(1).executeTakeFirst();
  if (key !== undefined) return false;
  const { numInsertedOrUpdatedRows } = await kysely
    .insertInto('account_settings')
    .values({ account_id: accountId, content_days: null, first_key_at: Date.now() })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ first_key_at: Date.now() }).where('account_settings.first_key_at', 'is', null),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
