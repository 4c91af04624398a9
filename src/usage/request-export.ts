import { writeCsvLine, type CsvCell } from './csv.ts';
import { REQUEST_COLUMNS, type ReadColumn } from './request-columns.ts';
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
  const columns = columnsFor(zone, names);
  if (format === 'csv')
    return {
      head: writeCsvLine(columns.map(([name]) => name)),
      write: (rows) => rows.map((row) => writeCsvLine(columns.map(([, read]) => read(row)))).join(''),
    };
  const toObject = (row: RequestRow): Record<string, CsvCell> => Object.fromEntries(columns.map(([name, read]) => [name, read(row)]));
  return { head: '', write: (rows) => rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join('') };
}

/** The columns of a file, in order. */
const NAMES = [
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

/** Returns the columns with their readers: times are in a zone, and keys have names. */
function columnsFor(zone: string, names: ReadonlyMap<string, string>): readonly (readonly [name: string, read: ReadColumn])[] {
  const writeTime = zoneWriter(zone);
  const readers: Record<(typeof NAMES)[number], ReadColumn> = {
    ...REQUEST_COLUMNS,
    time: (row) => writeTime(Number(row.created_at)),
    zone: () => zone,
    status: (row) => (row.outcome === 'failed' ? 'error' : 'ok'),
    key_name: (row) => names.get(row.key_id) ?? '',
  };
  return NAMES.map((name) => [name, readers[name]] as const);
}
