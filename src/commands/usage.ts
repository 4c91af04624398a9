import type { Command } from 'commander';
import { writeCsvLine } from '../usage/csv.ts';
import { readUsage } from '../usage/export.ts';
import { describeRequest, REQUEST_COLUMNS } from '../usage/request-columns.ts';
import type { RequestRow } from '../usage/requests.ts';
import { commandGroup } from './command-group.ts';
import { readMoment } from './options.ts';
import { requireAccount, showProgress, withSession } from './session.ts';
import { sayCount } from './text.ts';
import { readRequestId, showRequest } from './usage-show.ts';

/** `usage show|export`. */
export function usageCommand(): Command {
  const { group, add } = commandGroup('usage', 'Usage, request by request.');
  add('show', 'show what became of one request: its account, key, outcome, error, cost, times and charge')
    .argument('<id>', 'the id from the header `x-request-id`, such as req_0mwl93ncbcad1eab208b5b9f4b870', readRequestId)
    .option('--json', 'print one JSON object')
    .action(showRequest);
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
    if (options.format === 'csv') await print(`${Object.keys(REQUEST_COLUMNS).join(',')}\n`);
    const startedAtMs = Date.now();
    let count = 0;
    for await (const rows of readUsage(session.database, { fromMs, toMs, accountId })) {
      await print(rows.map((row) => `${write(row)}\n`).join(''));
      count += rows.length;
      if (!process.stdout.isTTY) showProgress(sayCount(count, 'row'));
    }
    if (!process.stdout.isTTY) showProgress(`${sayCount(count, 'row')} in ${Date.now() - startedAtMs} ms\n`);
  });
}

const WRITERS = {
  csv: (row: RequestRow) => writeCsvLine(Object.values(REQUEST_COLUMNS).map((read) => read(row))).replace(/\r\n$/u, ''),
  jsonl: (row: RequestRow) => JSON.stringify(describeRequest(row)),
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
