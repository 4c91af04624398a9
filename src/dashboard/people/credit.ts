import type { Kysely } from 'kysely';
import { hashMailbox } from '../../accounts/promo-code-text.ts';
import { inTransaction } from '../../database/in-transaction.ts';
import type { Tables } from '../../database/tables.ts';
import { postCredit } from '../../ledger/credit.ts';
import { NO_MONEY, parseUsd, type Nanos } from '../../ledger/money.ts';
import type { DashboardSettings } from '../messages.ts';
import { claimAccount } from './people.ts';

/** Grants a person with a verified address their existing account, if any, and the sign-up credit. */
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
  if (accountId !== undefined) await grantSignUpCredit(database, { accountId, email, amount: parseUsd(signUpCreditUsd) ?? NO_MONEY });
}

/**
 * Grants the sign-up credit once per mailbox. A hash of the address is kept forever, so deleting an account and signing up again earns
 * nothing. Only verified addresses qualify, because they cannot be invented by the thousand.
 */
async function grantSignUpCredit(database: Kysely<Tables>, { accountId, email, amount }: SignUpCredit): Promise<void> {
  if (amount <= 0n) return;
  await inTransaction(database, async (transaction) => {
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
