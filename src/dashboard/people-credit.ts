import type { Kysely } from 'kysely';
import { hashMailbox } from '../accounts/promo-code-text.ts';
import type { Tables } from '../database/tables.ts';
import { postCredit } from '../ledger/credit.ts';
import type { Nanos } from '../ledger/money.ts';

/**
 * Gives the credit for signing up, once per mailbox: of the address only a hash is kept, but for ever, so that deleting
 * an account and signing up again earns nothing. Only for verified addresses, which cannot be made up by the thousand.
 */
export async function giveSignUpCredit(database: Kysely<Tables>, { accountId, email, amount }: SignUpCredit): Promise<void> {
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
