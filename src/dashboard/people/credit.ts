import type { Kysely } from 'kysely';
import { hashMailbox } from '../../accounts/promo-code-text.ts';
import type { Tables } from '../../database/tables.ts';
import { postCredit } from '../../ledger/credit.ts';
import { NO_MONEY, parseUsd, type Nanos } from '../../ledger/money.ts';
import type { DashboardSettings } from '../messages.ts';
import { claimAccount } from './people.ts';

/** Gives a person what waits for a verified address, if theirs is: an account that was there before, and the credit for signing up. */
export async function grantVerified(
  database: Kysely<Tables>,
  { signUpCreditUsd }: Pick<DashboardSettings, 'signUpCreditUsd'>,
  id: string,
): Promise<void> {
  const person = await database
    .selectFrom('people')
    .select(['email', 'email_verified', 'account_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (person === undefined || !person.email_verified) return;
  const { email } = person;
  const accountId = person.account_id ?? (await claimAccount(database, { id, email, isEmailVerified: true }));
  if (accountId !== undefined) await giveSignUpCredit(database, { accountId, email, amount: parseUsd(signUpCreditUsd) ?? NO_MONEY });
}

/**
 * Gives the credit for signing up, once per mailbox: of the address only a hash is kept, but for ever, so that deleting
 * an account and signing up again earns nothing. Only for verified addresses, which cannot be made up by the thousand.
 */
async function giveSignUpCredit(database: Kysely<Tables>, { accountId, email, amount }: SignUpCredit): Promise<void> {
  if (amount <= 0n) return;
  await database.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('sign_up_credits')
      .values({ email_hash: hashMailbox(email), created_at: Date.now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return;
    const posting = { accountId, amount, house: 'promo_expense', source: `sign-up:${accountId}`, reason: 'credit for signing up' } as const;
    await postCredit(transaction, { ...posting, kind: 'promo' });
  });
}

interface SignUpCredit {
  readonly accountId: string;
  readonly email: string;
  readonly amount: Nanos;
}
