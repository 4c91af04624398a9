import { asNanos, formatUsd } from '../ledger/money.ts';
import { writeCsvLine, type Cell } from './csv.ts';
import type { RequestRow } from './requests.ts';
import { zoneWriter } from './zone.ts';

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
  const columns = Object.entries(columnsFor(zone, names));
  if (format === 'csv')
    return {
      head: writeCsvLine(columns.map(([name]) => name)),
      write: (rows) => rows.map((row) => writeCsvLine(columns.map(([, read]) => read(row)))).join(''),
    };
  const toObject = (row: RequestRow): Record<string, Cell> => Object.fromEntries(columns.map(([name, read]) => [name, read(row)]));
  return { head: '', write: (rows) => rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join('') };
}

/** Returns the columns of an export, in order, with times in a zone and the names of keys. */
function columnsFor(zone: string, names: ReadonlyMap<string, string>): Readonly<Record<string, (row: RequestRow) => Cell>> {
  const writeTime = zoneWriter(zone);
  return {
    request_id: (row) => row.request_id,
    time: (row) => writeTime(Number(row.created_at)),
    zone: () => zone,
    status: (row) => (row.outcome === 'failed' ? 'error' : 'ok'),
    outcome: (row) => row.outcome,
    error_code: (row) => row.error_code,
    model: (row) => row.model,
    served_model: (row) => row.served_model,
    provider: (row) => row.provider,
    key_id: (row) => row.key_id,
    key_name: (row) => names.get(row.key_id) ?? '',
    end_user: (row) => row.end_user,
    input_tokens: (row) => Number(row.input_tokens),
    cached_input_tokens: (row) => Number(row.cached_input_tokens),
    cache_write_tokens: (row) => Number(row.cache_write_tokens),
    output_tokens: (row) => Number(row.output_tokens),
    reasoning_tokens: (row) => Number(row.reasoning_tokens),
    is_estimated: (row) => row.is_estimated === 1n,
    cost_usd: (row) => formatUsd(asNanos(row.cost)),
    held_usd: (row) => formatUsd(asNanos(row.held)),
    price_version: (row) => Number(row.price_version),
    first_token_ms: (row) => (row.first_token_ms === null ? null : Number(row.first_token_ms)),
    duration_ms: (row) => Number(row.duration_ms),
    is_streaming: (row) => row.is_streaming === 1n,
    finish_reason: (row) => row.finish_reason,
    attempts: (row) => Number(row.attempts),
  };
}
