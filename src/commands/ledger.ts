import type { Command } from 'commander';
import { longestRequest } from '../housekeeping.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { formatUsd } from '../ledger/money.ts';
import { readStatement, type StatementLine } from '../ledger/statement.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readCount } from './options.ts';
import { formatTime, print, requireAccount, showProgress, withSession, type JsonOption } from './session.ts';
import { alignColumns, sayUsd } from './text.ts';

/** `ledger verify|show`. */
export function ledgerCommand(): Command {
  const { group, add } = commandGroup('ledger', 'The ledger: verify it, and show statements.');
  add('verify', 'recompute every sum of the ledger; exit code 1 on any difference').action(verify);
  add('show', "print an account's statement, newest first, with the running balance")
    .requiredOption('--account <email>', 'the account')
    .option('--limit <n>', 'maximum number of lines', readLimit, 50)
    .action(show);
  return withJson(group);
}

async function verify(options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    const checks = await verifyLedger(database, {
      longestRequestMs: longestRequest(config),
      onProgress: (name) => showProgress(`checking ${name} …`, options),
    });
    showProgress('', options);
    const ok = checks.every((check) => check.ok);
    print({ ok, checks }, options, [
      ...checks.map(({ name, ok: isFine, difference, places }) =>
        isFine ? `ok         ${name}` : `DIFFERENT  ${name}: by ${difference}, at ${places.join(', ')}`,
      ),
      ok ? 'The ledger is correct.' : 'The ledger has differences. Do not change the database; docs/operations.md says what to do.',
    ]);
    if (!ok) process.exitCode = 1;
  });
}

async function show(options: JsonOption & { readonly account: string; readonly limit: number }): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    const { lines, next } = await readStatement(session.database, account.id, { linesMax: options.limit });
    const rest = next === undefined ? [] : ['… older lines are not shown; raise --limit'];
    const empty = `no transfers; add credit with: account credit --email ${account.email} --usd 10 --reason …`;
    print({ account: account.email, balance: formatUsd(account.balance), lines: lines.map(describe) }, options, [
      `${account.email}: balance ${sayUsd(account.balance)}`,
      ...alignColumns(lines.map(toCells), { right: [1, 2], empty }),
      ...rest,
    ]);
  });
}

function toCells({ atMs, amount, balance, kind, reason, id }: StatementLine): string[] {
  return [new Date(atMs).toISOString(), sayUsd(amount), sayUsd(balance), kind, reason === '' ? id : reason];
}

function describe({ atMs, id, kind, reason, amount, balance }: StatementLine): Record<string, string | null> {
  return { at: formatTime(atMs), id, kind, reason, amount: formatUsd(amount), balance: formatUsd(balance) };
}

function readLimit(text: string): number {
  const lines = readCount(text);
  if (lines > LINES_MAX) throw new Error(`At most ${LINES_MAX} lines can be shown.`);
  return lines;
}

const LINES_MAX = 100_000;
