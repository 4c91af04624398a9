import type { OpenDatabase } from '../database/connect.ts';
import { dimensionsOf, rolledStatus, type RequestFilter } from './request-filter.ts';
import { addFound, ofStatus, readSums } from './sums.ts';
import { QUARTER_MS } from './zone.ts';

/** Up to so many requests, a file is written while it is sent; of more it is made in the background. */
export const STREAMED_ROWS_MAX = 50_000;

/** True for an export that goes through so many requests that it is made in the background. One that names its request is not. */
export function isLargeExport({ requestId }: RequestFilter, requests: number): boolean {
  return requestId === undefined && requests > STREAMED_ROWS_MAX;
}

/**
 * How many requests an export has to go through: those of the part of its filter that the sums know. It takes as long as a report,
 * however many there are; what the rest of the filter leaves of them is only known when they have been gone through.
 */
export async function readExportSize(
  database: OpenDatabase,
  { accountId, filter }: { readonly accountId: string; readonly filter: RequestFilter },
): Promise<number> {
  const { fromMs, toMs } = filter.span;
  const span = { fromMs: Math.floor(fromMs / QUARTER_MS) * QUARTER_MS, toMs: Math.ceil(toMs / QUARTER_MS) * QUARTER_MS };
  const [found] = await readSums(database, { accountId, spans: [span], by: [], filter: dimensionsOf(filter) });
  const status = rolledStatus(filter);
  const sums = addFound(found);
  return (status === undefined ? sums : ofStatus(sums, status)).requests;
}
