import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Small enough that no other writer has to wait noticeably. */
const BATCH_ROWS = 1000;

/** Removes the end users from an account's requests, or from those after an id. Works in batches, because there may be millions. */
export async function removeEndUsers(database: Kysely<Tables>, accountId: string, afterId = ''): Promise<void> {
  let after = afterId;
  for (;;) {
    const { rows } = await sql<{ request_id: string }>`SELECT request_id FROM usage WHERE account_id = ${accountId}
      AND request_id > ${after} ORDER BY request_id LIMIT ${BATCH_ROWS}`.execute(database);
    const last = rows.at(-1)?.request_id;
    if (last === undefined) return;
    await sql`UPDATE usage SET end_user = NULL WHERE account_id = ${accountId} AND request_id > ${after} AND request_id <= ${last}
      AND end_user IS NOT NULL`.execute(database);
    after = last;
  }
}
