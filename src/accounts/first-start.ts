import type { Kysely } from 'kysely';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { NO_MONEY, parseUsd } from '../ledger/money.ts';
import { Accounts } from './accounts.ts';
import { Invitations, OPERATOR_LINK_MS } from './invitations.ts';
import { Keys } from './keys.ts';
import { lockKeys } from './lock-keys.ts';

const TRIAL_EMAIL = 'trial@localhost';
const TRIAL_CREDIT_USD = '1';

/** Shown once: the secret of the trial key, and the token of the operator's link. */
export interface FirstStart {
  readonly secret: string;
  readonly token: string;
}

/**
 * Creates the trial account with its key, and the operator's link, at the very first start. Returns undefined at every other start,
 * and on all but one of several nodes that start together.
 */
export async function prepareFirstStart(database: Kysely<Tables>, models: readonly string[]): Promise<FirstStart | undefined> {
  const accounts = new Accounts(database);
  if (!(await accounts.hasNoneBut(TRIAL_EMAIL)) || !(await new Invitations(database).isEmpty())) return undefined;
  const account = (await accounts.create(TRIAL_EMAIL, false)) ?? (await accounts.find(TRIAL_EMAIL));
  if (account === undefined) return undefined;
  await accounts.credit(account, parseUsd(TRIAL_CREDIT_USD) ?? NO_MONEY, {
    reason: 'trial credit for the sandbox',
    actor: 'first start',
    // An interrupted earlier start may have posted this credit already.
    name: 'trial',
  });
  return inTransaction(database, async (transaction) => {
    await lockKeys(transaction, account.id);
    const invitations = new Invitations(transaction);
    // If the link is missing, an earlier start ended before it printed anything.
    if (!(await invitations.isEmpty())) return undefined;
    const { secret } = await new Keys(transaction).create(account.id, { name: 'trial', models });
    return { secret, token: await invitations.create({ kind: 'operator', email: undefined, lifeMs: OPERATOR_LINK_MS }) };
  });
}
