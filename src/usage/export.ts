import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { idAt } from '../ids.ts';
import type { RequestRow } from './requests.ts';

/** A time range of requests, by when they came in. */
export interface UsageRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly accountId?: string | undefined;
}

const PAGE_ROWS = 1000;

/**
 * Reads usage rows in order of time, page by page, so that memory and load do not grow with their number. Ids grow with time, so
 * the time range is a range of the primary key.
 */
export async function* readUsage(database: Kysely<Tables>, { fromMs, toMs, accountId }: UsageRange): AsyncGenerator<readonly RequestRow[]> {
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
