import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { recordAudits, type AuditEntry } from './audit.ts';
import { isPlayground, isPlaygroundKey } from './playground-key.ts';

/**
 * Disables all keys of an account at once. The playground's key is deleted, because nobody could enable it again; the playground makes
 * itself another one. Returns the number of keys that no longer work.
 */
export async function disableKeys(transaction: Transaction<Tables>, accountId: string, actor: string): Promise<number> {
  const nowMs = Date.now();
  const own = transaction.updateTable('api_keys').where('account_id', '=', accountId).where('deleted_at', 'is', null).returning('id');
  const deleted = await own.set({ deleted_at: nowMs }).where(isPlayground).execute();
  const disabled = await own.set({ disabled_at: nowMs, updated_at: nowMs }).where('disabled_at', 'is', null).execute();
  await recordAudits(
    transaction,
    [...deleted, ...disabled].map(({ id }): AuditEntry =>
      isPlaygroundKey(id)
        ? { actor, action: 'key.delete', subject: id, changes: [] }
        : { actor, action: 'key.update', subject: id, changes: [{ field: 'isDisabled', before: false, after: true }] },
    ),
  );
  return deleted.length + disabled.length;
}
