import { asNanos, formatUsd } from '../ledger/money.ts';
import { writeCsvLine, type Cell } from './csv.ts';
import type { RequestRow } from './requests.ts';
import { zoneWriter } from './zone.ts';

/** The columns of an export, in order. */
const REQUEST_COLUMNS = [
  'request_id',
  'time',
  'zone',
  'status',
  'outcome',
  'error_code',
  'model',
  'served_model',
  'provider',
  'key_id',
  'key_name',
  'end_user',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'is_estimated',
  'cost_usd',
  'held_usd',
  'price_version',
  'first_token_ms',
  'duration_ms',
  'is_streaming',
  'finish_reason',
  'attempts',
] as const;

type ExportedRequest = Readonly<Record<(typeof REQUEST_COLUMNS)[number], Cell>>;

/** How a request file is written. */
export interface FileForm {
  readonly format: 'csv' | 'jsonl';
  readonly zone: string;
  /** Key names by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** The head of a request file, and a function that writes its lines. */
export interface RequestLines {
  readonly head: string;
  write(rows: readonly RequestRow[]): string;
}

/** Returns the head and the line writer of a request file. */
export function requestLines({ format, zone, names }: FileForm): RequestLines {
  const write = requestWriter(zone, names);
  if (format === 'jsonl') return { head: '', write: (rows) => rows.map((row) => `${JSON.stringify(write(row))}\n`).join('') };
  return { head: writeCsvLine(REQUEST_COLUMNS), write: (rows) => rows.map((row) => writeCsvLine(requestCells(write(row)))).join('') };
}

/** Returns a function that converts requests for a file, with times in a zone and the names of their keys. */
function requestWriter(zone: string, names: ReadonlyMap<string, string>): (row: RequestRow) => ExportedRequest {
  const writeTime = zoneWriter(zone);
  return (row) => ({
    request_id: row.request_id,
    time: writeTime(Number(row.created_at)),
    zone,
    status: row.outcome === 'failed' ? 'error' : 'ok',
    outcome: row.outcome,
    error_code: row.error_code,
    model: row.model,
    served_model: row.served_model,
    provider: row.provider,
    key_id: row.key_id,
    key_name: names.get(row.key_id) ?? '',
    end_user: row.end_user,
    input_tokens: Number(row.input_tokens),
    cached_input_tokens: Number(row.cached_input_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
    output_tokens: Number(row.output_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    is_estimated: row.is_estimated === 1n,
    cost_usd: formatUsd(asNanos(row.cost)),
    held_usd: formatUsd(asNanos(row.held)),
    price_version: Number(row.price_version),
    first_token_ms: row.first_token_ms === null ? null : Number(row.first_token_ms),
    duration_ms: Number(row.duration_ms),
    is_streaming: row.is_streaming === 1n,
    finish_reason: row.finish_reason,
    attempts: Number(row.attempts),
  });
}

/** Returns the cells of a line, in column order. */
function requestCells(request: ExportedRequest): Cell[] {
  return REQUEST_COLUMNS.map((name) => request[name]);
}
