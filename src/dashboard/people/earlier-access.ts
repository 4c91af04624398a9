import { setTimeout } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { removeOperator } from '../../accounts/accounts.ts';
import { recordAudit } from '../../accounts/audit.ts';
import { disableKeys } from '../../accounts/disable-keys.ts';
import type { OpenDatabase } from '../../database/connect.ts';
import { inTransaction } from '../../database/in-transaction.ts';
import type { Tables } from '../../database/tables.ts';
import { lockPerson, PASSWORD } from './sign-in-methods.ts';

/** Longer than requests take that were admitted before the sessions ended. What they have set up is removed too. */
const LAST_REQUESTS_MS = 1000;

/**
 * Marks an address as verified when its owner proves it for the first time, without having to be the person who signed up with it.
 * Somebody else may have used the account until then, so everything that still gives access to it or sends its data elsewhere is removed:
 * sessions, every way to sign in but the password, the second factor, the operator role, the webhook and exports. Keys are disabled; the
 * owner can enable their own again.
 */
export async function removeEarlierAccess(database: OpenDatabase, personId: string): Promise<void> {
  await removeOnce(database, personId);
  await setTimeout(LAST_REQUESTS_MS);
  await removeOnce(database, personId);
}

async function removeOnce({ kysely, dialect }: OpenDatabase, personId: string): Promise<void> {
  const [yes, no] = dialect === 'postgres' ? [true, false] : [1, 0];
  await inTransaction(kysely, async (transaction) => {
    await lockPerson(transaction, personId);
    const person = await transaction
      .selectFrom('people')
      .select(['email', 'account_id'])
      .where('id', '=', personId)
      .executeTakeFirstOrThrow();
    const removed = {
      ...(await removeSignIn(transaction, personId)),
      ...(person.account_id === null ? {} : await closeOutlets(transaction, person.account_id, person.email)),
    };
    await transaction.updateTable('people').set({ email_verified: yes, two_factor_enabled: no }).where('id', '=', personId).execute();
    const changes = [
      ...Object.entries(removed).flatMap(([field, count]) => (count > 0 ? [{ field, before: count, after: 0 }] : [])),
      ...(person.account_id === null ? [] : await removeOperator(transaction, person.account_id)),
    ];
    if (changes.length > 0)
      await recordAudit(transaction, {
        actor: person.email,
        action: 'account.remove_access',
        subject: person.account_id ?? personId,
        changes,
      });
  });
}

type Counts = Readonly<Record<string, number>>;

async function removeSignIn(transaction: Transaction<Tables>, personId: string): Promise<Counts> {
  const sessions = await transaction.deleteFrom('sessions').where('person_id', '=', personId).executeTakeFirst();
  const linked = await transaction
    .deleteFrom('credentials')
    .where('person_id', '=', personId)
    .where('provider_id', '<>', PASSWORD)
    .executeTakeFirst();
  const passkeys = await transaction.deleteFrom('passkeys').where('person_id', '=', personId).executeTakeFirst();
  const factors = await transaction.deleteFrom('two_factors').where('person_id', '=', personId).executeTakeFirst();
  return {
    sessions: Number(sessions.numDeletedRows),
    linked: Number(linked.numDeletedRows),
    passkeys: Number(passkeys.numDeletedRows),
    secondFactor: Number(factors.numDeletedRows),
  };
}

async function closeOutlets(transaction: Transaction<Tables>, accountId: string, actor: string): Promise<Counts> {
  const webhooks = await transaction.deleteFrom('alert_webhooks').where('account_id', '=', accountId).executeTakeFirst();
  const exports = await transaction
    .updateTable('export_jobs')
    .set({ state: 'dropped' })
    .where('account_id', '=', accountId)
    .where('state', '<>', 'dropped')
    .executeTakeFirst();
  return {
    keys: await disableKeys(transaction, accountId, actor),
    webhook: Number(webhooks.numDeletedRows),
    exports: Number(exports.numUpdatedRows),
  };
}
