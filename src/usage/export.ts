import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { idAt } from '../ids.ts';

/** One request as it is exported. */
export type UsageRow = Selectable<Tables['usage']>;

/** Which requests; the times are those at which they came in. */
export interface UsageRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly accountId?: string | undefined;
}

const PAGE_ROWS = 1000;

/**
 * The usage rows of a range in the order of time, page by page: memory and load stay the same however many there are.
 * Ids grow with time, so the range is one of the table's own key.
 */
export async function* readUsage(database: Kysely<Tables>, { fromMs, toMs, accountId }: UsageRange): AsyncGenerator<readonly UsageRow[]> {
  const end = idAt('req', toMs);
  let start = idAt('req', fromMs);
  for (;;) {
    let query = database.selectFrom('usage').selectAll().where('request_id', '>', start).where('request_id', '<', end);
    if (accountId !== undefined) query = query.where('account_id', '=', accountId);
    const rows = await query.orderBy('request_id').limit(PAGE_ROWS).execute();
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    start = last.request_id;
  }
}
