import type { Command } from 'commander';
import { asNanos, formatUsd } from '../ledger/money.ts';
import { writeCsvLine } from '../usage/csv.ts';
import { readUsage, type UsageRow } from '../usage/export.ts';
import { commandGroup } from './command-group.ts';
import { readMoment } from './options.ts';
import { requireAccount, requireDatabase, withSession } from './session.ts';

/** `usage export`. */
export function usageCommand(): Command {
  const { group, add } = commandGroup('usage', 'Usage, request by request.');
  add('export', 'write usage rows to standard output, oldest first')
    .option('--from <time>', 'first moment, in UTC, such as 2026-11-01 (default: the beginning)', readMoment)
    .option('--to <time>', 'end, exclusive (default: now)', readMoment)
    .option('--account <email>', 'only this account')
    .option('--format <format>', 'csv or jsonl', readFormat, 'csv')
    .action(exportUsage);
  return group;
}

type Format = keyof typeof WRITERS;

interface ExportOptions {
  readonly from?: number;
  readonly to?: number;
  readonly account?: string;
  readonly format: Format;
}

async function exportUsage(options: ExportOptions): Promise<void> {
  const { from: fromMs = 0, to: toMs = Date.now() + 1 } = options;
  if (fromMs >= toMs) throw new Error('--from must be before --to, which defaults to now.');
  await withSession(async (session) => {
    const accountId = options.account === undefined ? undefined : (await requireAccount(session, options.account)).id;
    const write = WRITERS[options.format];
    if (options.format === 'csv') await print(`${Object.keys(COLUMNS).join(',')}\n`);
    const startedAtMs = Date.now();
    let count = 0;
    for await (const rows of readUsage(session.database, { fromMs, toMs, accountId })) {
      await print(rows.map((row) => `${write(row)}\n`).join(''));
      count += rows.length;
      if (process.stderr.isTTY && !process.stdout.isTTY) process.stderr.write(`\r${count} rows`);
    }
    if (process.stderr.isTTY && !process.stdout.isTTY) process.stderr.write(`\r${count} rows in ${Date.now() - startedAtMs} ms\n`);
  }, requireDatabase);
}

/** Reads each column from a row, in the order of the file. */
const COLUMNS: Readonly<Record<string, (row: UsageRow) => string | number | boolean | null>> = {
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
  first_token_ms: (row) => (row.first_token_ms === null ? null : Number(row.first_token_ms)),
  duration_ms: (row) => Number(row.duration_ms),
  attempts: (row) => Number(row.attempts),
  is_streaming: (row) => row.is_streaming === 1n,
  finish_reason: (row) => row.finish_reason,
  error_code: (row) => row.error_code,
  served_model: (row) => row.served_model,
  end_user: (row) => row.end_user,
};

const WRITERS = {
  csv: (row: UsageRow) => writeCsvLine(Object.values(COLUMNS).map((read) => read(row))).replace(/\r\n$/u, ''),
  jsonl: (row: UsageRow) => JSON.stringify(Object.fromEntries(Object.entries(COLUMNS).map(([name, read]) => [name, read(row)]))),
} as const;

/** Writes to standard output and waits until a slow reader has caught up, so that it costs no memory. */
async function print(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

function readFormat(text: string): Format {
  if (text === 'csv' || text === 'jsonl') return text;
  throw new Error(`"${text}" is not a format; use csv or jsonl.`);
}
