import type { Selectable } from 'kysely';
import { readOptional } from '../database/columns.ts';
import type { Tables } from '../database/tables.ts';
import { timeOf } from '../ids.ts';
import { parseFilter, type RequestFilter } from './request-filter.ts';

/** A request export that is built in the background. */
export interface ExportJob {
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  readonly format: 'csv' | 'jsonl';
  readonly zone: string;
  /** The filter as given in the query string. */
  readonly query: Readonly<Record<string, string>>;
  readonly filter: RequestFilter;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'dropped';
  /** Where to continue; undefined before the first step. */
  readonly before: string | undefined;
  /** The part of the range that is written, from 0 to 1. */
  readonly part: number;
  readonly rowCount: number;
  readonly byteCount: number;
  readonly chunkCount: number;
  readonly problem: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
}

/** Converts a database row to a job. */
export function readJob(row: Selectable<Tables['export_jobs']>): ExportJob {
  const filter = parseFilter(row.filter);
  return {
    id: row.id,
    accountId: row.account_id,
    personId: row.person_id,
    format: row.format,
    zone: row.zone,
    query: JSON.parse(row.query) as Readonly<Record<string, string>>,
    filter,
    state: row.state,
    before: row.before_id ?? undefined,
    part: row.state === 'done' ? 1 : partOf(row.before_id, { fromMs: Number(row.oldest_at), toMs: filter.span.toMs }),
    rowCount: Number(row.row_count),
    byteCount: Number(row.byte_count),
    chunkCount: Number(row.chunk_count),
    problem: row.problem ?? undefined,
    createdAtMs: Number(row.created_at),
    expiresAtMs: readOptional(row.expires_at),
  };
}

/** Returns how much of the time range is done. The newest requests come first. */
function partOf(before: string | null, { fromMs, toMs }: RequestFilter['span']): number {
  if (before === null || toMs <= fromMs) return 0;
  return Math.min(1, Math.max(0, (toMs - timeOf(before)) / (toMs - fromMs)));
}
