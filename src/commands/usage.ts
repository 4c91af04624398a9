import { Command } from 'commander';
import { asNanos, formatUsd } from '../ledger/money.ts';
import { writeCsvLine } from '../usage/csv.ts';
import { readUsage, type UsageRow } from '../usage/export.ts';
import { readMoment } from './options.ts';
import { requireAccount, requireDatabase, withSession } from './session.ts';

/** `usage export`. */
export function usageCommand(): Command {
  const command = new Command('usage').description('What was used, request by request.');
  command
    .command('export')
    .description('write usage rows to standard output, oldest first')
    .option('--from <time>', 'first moment, such as 2026-11-01, of UTC (default: the beginning)', readMoment)
    .option('--to <time>', 'the moment after the last (default: now)', readMoment)
    .option('--account <email>', 'only this account')
    .option('--format <format>', 'csv or jsonl', readFormat, 'csv')
    .action(exportUsage);
  return command;
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
  if (fromMs >= toMs) throw new Error('--from must be before --to, which is now where it is not given.');
  await withSession(async (session) => {
    const accountId = options.account === undefined ? undefined : (await requireAccount(session, options.account)).id;
    const write = WRITERS[options.format];
    if (options.format === 'csv') await print(`${COLUMNS.join(',')}\n`);
    const startedAtMs = Date.now();
    let count = 0;
    for await (const rows of readUsage(session.database, { fromMs, toMs, accountId })) {
      await print(rows.map((row) => `${write(describe(row))}\n`).join(''));
      count += rows.length;
      if (process.stderr.isTTY && !process.stdout.isTTY) process.stderr.write(`\r${count} rows`);
    }
    if (process.stderr.isTTY && !process.stdout.isTTY) process.stderr.write(`\r${count} rows in ${Date.now() - startedAtMs} ms\n`);
  }, requireDatabase);
}

const COLUMNS = [
  'request_id',
  'created_at',
  'account_id',
  'key_id',
  'model',
  'provider',
  'outcome',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'is_estimated',
  'price_version',
  'cost_usd',
  'held_usd',
  'first_token_ms',
  'duration_ms',
  'attempts',
  'is_streaming',
  'finish_reason',
  'error_code',
  'served_model',
  'end_user',
] as const;

type Described = Readonly<Record<(typeof COLUMNS)[number], string | number | boolean | null>>;

function describe(row: UsageRow): Described {
  return {
    request_id: row.request_id,
    created_at: new Date(Number(row.created_at)).toISOString(),
    account_id: row.account_id,
    key_id: row.key_id,
    model: row.model,
    provider: row.provider,
    outcome: row.outcome,
    input_tokens: Number(row.input_tokens),
    cached_input_tokens: Number(row.cached_input_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
    output_tokens: Number(row.output_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    is_estimated: row.is_estimated === 1n,
    price_version: Number(row.price_version),
    cost_usd: formatUsd(asNanos(row.cost)),
    held_usd: formatUsd(asNanos(row.held)),
    first_token_ms: row.first_token_ms === null ? null : Number(row.first_token_ms),
    duration_ms: Number(row.duration_ms),
    attempts: Number(row.attempts),
    is_streaming: row.is_streaming === 1n,
    finish_reason: row.finish_reason,
    error_code: row.error_code,
    served_model: row.served_model,
    end_user: row.end_user,
  };
}

const WRITERS = {
  csv: (row: Described) => writeCsvLine(COLUMNS.map((name) => row[name])).replace(/\r\n$/u, ''),
  jsonl: (row: Described) => JSON.stringify(row),
} as const;

/** Waits until the reader has taken what was written, so that a slow one costs no memory. */
async function print(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once('drain', resolve));
}

function readFormat(text: string): Format {
  if (text === 'csv' || text === 'jsonl') return text;
  throw new Error(`"${text}" is not a format; use csv or jsonl.`);
}
