import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { postCredit } from '../ledger/credit.ts';
import type { Nanos } from '../ledger/money.ts';

/**
 * Gives the credit for signing up, once per mailbox: of the address only a hash is kept, but for ever, so that deleting
 * an account and signing up again earns nothing. Only for verified addresses, which cannot be made up by the thousand.
 */
export async function giveSignUpCredit(database: Kysely<Tables>, { accountId, email, amount }: SignUpCredit): Promise<void> {
  if (amount <= 0n) return;
  const hash = createHash('sha256').update(mailboxOf(email)).digest('base64url');
  await database.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('sign_up_credits')
      .values({ email_hash: hash, created_at: Date.now() })
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

/** Hosts that deliver `a.b@` and `ab@` to the same person. */
const DOTLESS = new Set(['gmail.com', 'googlemail.com']);

/** The mailbox behind an address: everything after a plus is its owner's to choose, and at some hosts every dot. */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  const [local = ''] = email.slice(0, at).toLowerCase().split('+');
  return `${DOTLESS.has(domain) ? local.replaceAll('.', '') : local}@${domain === 'googlemail.com' ? 'gmail.com' : domain}`;
}
