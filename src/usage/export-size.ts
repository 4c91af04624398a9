import type { OpenDatabase } from '../database/connect.ts';
import { dimensionsOf, rolledStatus, type RequestFilter } from './request-filter.ts';
import { addFound, ofStatus, readSums } from './sums.ts';
import { wholeQuarters } from './zone.ts';

/** Up to this many requests, a file is written while it is sent. Larger ones are built in the background. */
export const STREAMED_ROWS_MAX = 50_000;

/** Returns whether an export covers so many requests that it is built in the background. An export of a single request never is. */
export function isLargeExport({ requestId }: RequestFilter, requests: number): boolean {
  return requestId === undefined && requests > STREAMED_ROWS_MAX;
}

/**
 * Returns how many requests an export has to scan: those matching the part of its filter that roll-ups know. Takes as long as a report,
 * however many there are. How many of them match the rest of the filter is only known after the scan.
 */
export async function readExportSize(
  database: OpenDatabase,
  { accountId, filter }: { readonly accountId: string; readonly filter: RequestFilter },
): Promise<number> {
  const spans = [wholeQuarters(filter.span)];
  const [found] = await readSums(database, { accountId, spans, by: [], filter: dimensionsOf(filter) });
  const status = rolledStatus(filter);
  const sums = addFound(found);
  return (status === undefined ? sums : ofStatus(sums, status)).requests;
}
