import type { Kysely } from 'kysely';
import { isLastOperator, removeOperator } from '../../accounts/accounts.ts';
import { DELETED_USER } from '../../accounts/audit.ts';
import { Invitations } from '../../accounts/invitations.ts';
import { endPlan } from '../../accounts/subscriptions.ts';
import { inTransaction } from '../../database/in-transaction.ts';
import type { Tables } from '../../database/tables.ts';
import { DAY_MS } from '../../durations.ts';
import { idAt, makeId } from '../../ids.ts';
import { lockWallet } from '../../ledger/credit.ts';
import { yieldToOthers } from '../../turns.ts';
import { deleteContents } from '../../usage/contents.ts';
import { removeEndUsers } from '../../usage/end-users.ts';
import { dropExports } from '../../usage/export-jobs.ts';
import { lockPerson } from './sign-in-methods.ts';

/**
 * Deletes a person and closes their account. Keys stop working at once, sessions end, and all identifying data is removed. The
 * ledger stays, as the law requires, under an account without a name. Does nothing if the person is the last operator.
 */
export async function closeAccount(database: Kysely<Tables>, personId: string, accountId: string): Promise<'closed' | 'last_operator'> {
  const nowMs = Date.now();
  const outcome = await inTransaction(database, async (transaction) => {
    await lockPerson(transaction, personId);
    await lockWallet(transaction, accountId);
    // This write locks the account, so that later reads in this transaction stay valid.
    await transaction.updateTable('accounts').set({ closed_at: null }).where('id', '=', accountId).execute();
    if (await isLastOperator(transaction, accountId)) return 'last_operator' as const;
    const endKeys = transaction.updateTable('api_keys').where('account_id', '=', accountId);
    await endKeys.set({ deleted_at: nowMs }).where('deleted_at', 'is', null).execute();
    await endKeys.set({ name: '', tags: null, addresses: null }).execute();
    await forgetChanges(transaction, accountId);
    await stopPaying(transaction, accountId, nowMs);
    await removeOperator(transaction, accountId);
    await transaction
      .updateTable('accounts')
      .set({ email: `closed:${accountId}`, status: 'suspended', closed_at: nowMs })
      .where('id', '=', accountId)
      .execute();
    await forgetChoices(transaction, accountId);
    // Deletes sessions, credentials, second factors and passkeys too.
    await transaction.deleteFrom('people').where('id', '=', personId).execute();
    await transaction
      .insertInto('audit')
      .values({ id: makeId('audit'), actor: DELETED_USER, action: 'close', subject: accountId, detail: '{}', created_at: nowMs })
      .execute();
    return 'closed' as const;
  });
  if (outcome === 'closed') await forgetRequests(database, accountId);
  return outcome;
}

/** Removes traces of requests that were still running when their account was closed. Looks at accounts closed within the last day. */
export async function deleteTraces(database: Kysely<Tables>, nowMs: number): Promise<void> {
  const since = BigInt(nowMs - DAY_MS);
  const closed = await database.selectFrom('accounts').select('id').where('closed_at', '>', since).execute();
  for (const { id } of closed) {
    await inTransaction(database, (transaction) => forgetChoices(transaction, id));
    await forgetRequests(database, id, idAt('req', nowMs - 2 * DAY_MS));
    await yieldToOthers();
  }
}

/** Deletes prompts, answers and end users in small steps, because there may be many and other writers would have to wait. */
async function forgetRequests(database: Kysely<Tables>, accountId: string, afterId?: string): Promise<void> {
  await deleteContents(database, accountId);
  await removeEndUsers(database, accountId, afterId);
}

/** Anonymises audit entries about the account's keys, sign-in methods and invitations. */
async function forgetChanges(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  const keyIds = transaction.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
  const forget = transaction.updateTable('audit').set({ actor: DELETED_USER, detail: '{}' });
  await forget.where('subject', 'in', keyIds).execute();
  const { email } = await transaction.selectFrom('accounts').select('email').where('id', '=', accountId).executeTakeFirstOrThrow();
  for (const id of await new Invitations(transaction).forget(email))
    await transaction.updateTable('audit').set({ detail: '{}' }).where('subject', '=', id).execute();
  const actions = ['sign-in.add', 'sign-in.remove', 'account.remove_access'];
  await forget.where('subject', '=', accountId).where('action', 'in', actions).execute();
}

/** Ends automatic top-ups and the plan. Marks the payment customer, so that the payments clock has the provider delete their data. */
async function stopPaying(transaction: Kysely<Tables>, accountId: string, nowMs: number): Promise<void> {
  await transaction.deleteFrom('auto_top_ups').where('account_id', '=', accountId).execute();
  await endPlan(transaction, accountId, 'the account was closed');
  await transaction.updateTable('payment_customers').set({ forget_at: nowMs }).where('account_id', '=', accountId).execute();
}

/** Deletes what the owner has configured and recorded, and where each key was used from. */
async function forgetChoices(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  const keyIds = transaction.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
  const hashes = transaction.selectFrom('key_secrets').select('hash').where('key_id', 'in', keyIds);
  await transaction.deleteFrom('key_uses').where('secret_hash', 'in', hashes).execute();
  const rules = transaction.selectFrom('alert_rules').select('id').where('account_id', '=', accountId);
  await transaction.deleteFrom('alert_states').where('rule_id', 'in', rules).execute();
  await dropExports(transaction, accountId);
  for (const table of OWN_TABLES) await transaction.deleteFrom(table).where('account_id', '=', accountId).execute();
}

const OWN_TABLES = ['alert_rules', 'alert_webhooks', 'alert_deliveries', 'content_logging', 'refusals', 'saved_views', 'carried'] as const;
