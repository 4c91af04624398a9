import { readOptional } from '../database/columns.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';
import type { CsvCell } from './csv.ts';
import type { RequestRow } from './requests.ts';

/** Reads a column of a file from a request's row. */
export type ReadColumn = (row: RequestRow) => CsvCell;

/** What files and programs are told of a request. The order is that of `usage export`. */
export const REQUEST_COLUMNS = {
  request_id: (row) => row.request_id,
  created_at: (row) => new Date(Number(row.created_at)).toISOString(),
  account_id: (row) => row.account_id,
  key_id: (row) => row.key_id,
  model: (row) => row.model,
  provider: (row) => row.provider,
  outcome: (row) => row.outcome,
  input_tokens: (row) => Number(row.input_tokens),
  cached_input_tokens: (row) => Number(row.cached_input_tokens),
  cache_write_tokens: (row) => Number(row.cache_write_tokens),
  output_tokens: (row) => Number(row.output_tokens),
  reasoning_tokens: (row) => Number(row.reasoning_tokens),
  is_estimated: (row) => row.is_estimated === 1n,
  price_version: (row) => Number(row.price_version),
  cost_usd: (row) => formatUsd(asNanos(row.cost)),
  held_usd: (row) => formatUsd(asNanos(row.held)),
  first_token_ms: (row) => readOptional(row.first_token_ms) ?? null,
  duration_ms: (row) => Number(row.duration_ms),
  attempts: (row) => Number(row.attempts),
  is_streaming: (row) => row.is_streaming === 1n,
  finish_reason: (row) => row.finish_reason,
  error_code: (row) => row.error_code,
  served_model: (row) => row.served_model,
  end_user: (row) => row.end_user,
} satisfies Record<string, ReadColumn>;

/** Describes a request for programs. */
export function describeRequest(row: RequestRow): Record<string, CsvCell> {
  return Object.fromEntries(Object.entries(REQUEST_COLUMNS).map(([name, read]) => [name, read(row)]));
}
