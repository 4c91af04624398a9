import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'bun:sqlite';
import { connect, type OpenDatabase } from '../src/database/connect.ts';
import { migrate } from '../src/database/migrate.ts';
import { openSqlite } from '../src/database/sqlite.ts';
import { makeId } from '../src/ids.ts';
import { type Operation, type Settlement } from '../src/ledger/ledger.ts';
import { asNanos } from '../src/ledger/money.ts';
import { verifyLedger } from '../src/ledger/verify.ts';
import { type Apply, prepareApply } from '../src/ledger/sqlite-apply.ts';
import { readStatement } from '../src/ledger/statement.ts';

/** Costs of a ledger that already contains this many requests. */
export interface LedgerFigures {
  readonly rows: number;
  /** CPU of one hold and one settlement in batches of 16, commits included. */
  readonly requestMicros: number;
  readonly statementMs: number;
  readonly verifySeconds: number;
}

const SIZES = [10, 10_000, 1_000_000];
const ACCOUNTS_MAX = 10_000;
const ACTIVE_ACCOUNTS = 10;
const FILL_BATCH = 5000;
const BATCH = 16;
const BATCHES = 1500;
const TURNS = 6;
const DAY_MS = 86_400_000;

/** An embedded ledger filled with requests. */
interface Filled {
  readonly rows: number;
  readonly kysely: OpenDatabase['kysely'];
  readonly database: Database;
  readonly apply: Apply;
  /** Only these ten accounts are active at every size, because in practice most accounts are idle. */
  readonly busyAccounts: readonly string[];
}

/** Measures the embedded ledger at growing sizes. Only the verification may grow with the size. */
export async function measureLedger(
  report: (line: string) => void,
  { sizes = SIZES, batches = BATCHES } = {},
): Promise<readonly LedgerFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  try {
    const ledgers: Filled[] = [];
    for (const [index, rows] of sizes.entries()) {
      report(`a ledger gets ${rows} requests`);
      ledgers.push(await fillLedger(join(folder, `${index}.db`), rows));
    }
    report('the ledgers by turns');
    const micros = measureRequests(ledgers, batches);
    const figures: LedgerFigures[] = [];
    for (const [index, ledger] of ledgers.entries()) {
      report(`the ledger with ${ledger.rows} requests is verified`);
      figures.push({ rows: ledger.rows, requestMicros: micros[index] ?? Number.NaN, ...(await measureReading(ledger)) });
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fillLedger(path: string, rows: number): Promise<Filled> {
  const { kysely } = await connect({ databaseUrl: undefined, databasePath: path });
  await migrate(kysely, 'sqlite');
  const database = openSqlite(path);
  const accountIds = insertAccounts(database, Math.min(rows, ACCOUNTS_MAX));
  const apply = prepareApply(database, 'bench');
  database.run('PRAGMA synchronous = OFF');
  fill(apply, accountIds, rows);
  database.run('PRAGMA synchronous = FULL');
  return { rows, kysely, database, apply, busyAccounts: accountIds.slice(0, ACTIVE_ACCOUNTS) };
}

/** Measures reading, as the last step: closes the ledger afterwards. */
async function measureReading({ kysely, database, busyAccounts }: Filled): Promise<Pick<LedgerFigures, 'statementMs' | 'verifySeconds'>> {
  const statementMs = await best(5, () => readStatement(kysely, busyAccounts[0] ?? '', { linesMax: 50 }));
  const verifyMs = await best(1, () => verifyAll(kysely));
  database.close();
  await kysely.destroy();
  return { statementMs, verifySeconds: verifyMs / 1000 };
}

async function verifyAll(kysely: Parameters<typeof verifyLedger>[0]): Promise<void> {
  const checks = await verifyLedger(kysely, { longestRequestMs: DAY_MS });
  const broken = checks.filter((check) => !check.ok);
  if (broken.length > 0) throw new Error(`the ledger has differences: ${broken.map((check) => check.name).join(', ')}`);
}

function insertAccounts(database: Database, count: number): string[] {
  const ids = Array.from({ length: count }, () => makeId('acct'));
  const nowMs = Date.now();
  const amount = 10n ** 12n;
  database.transaction(() => {
    database.run(
      `INSERT INTO prices VALUES ('m', 1, 'input', 1000000, 0), ('m', 1, 'cached_input', 0, 0), ('m', 1, 'cache_write', 0, 0), ('m', 1, 'output', 2000000, 0)`,
    );
    for (const id of ids) {
      database.query("INSERT INTO accounts (id, email, status, is_admin, created_at) VALUES (?1, ?1, 'active', 0, ?2)").run(id, nowMs);
      database
        .query('INSERT INTO wallets (account_id, credits_posted, debits_posted, debits_pending) VALUES (?1, ?2, 0, 0)')
        .run(id, amount);
      database
        .query(
          `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
           VALUES ('credit:' || ?1, 'promo_expense', 'wallet:' || ?1, ?2, 'manual', '', ?3)`,
        )
        .run(id, amount, nowMs);
      database
        .query(
          `INSERT INTO grants (id, account_id, kind, amount, remaining, source, created_at)
           VALUES ('grant:' || ?1, ?1, 'manual', ?2, ?2, ?1, ?3)`,
        )
        .run(id, amount, nowMs);
    }
  })();
  return ids;
}

/** Fills the ledger with requests of the last thirty days, in time order. */
function fill(apply: Apply, accountIds: readonly string[], rows: number): void {
  const beganAtMs = Date.now() - 30 * DAY_MS;
  for (let done = 0; done < rows; done += FILL_BATCH) {
    const count = Math.min(FILL_BATCH, rows - done);
    const requests = Array.from({ length: count }, (_, index) =>
      makeRequest(accountIds, done + index, beganAtMs + Math.floor(((done + index) / rows) * 30 * DAY_MS)),
    );
    apply(requests.map(({ hold }) => hold));
    apply(requests.map(({ settle }) => settle));
  }
}

/**
 * Returns the CPU time of a request at each size, from the cheapest of several turns: noise of the machine only ever adds to it. The
 * sizes alternate, because a machine is slower at some times than at others. The first turn is the warm-up.
 */
function measureRequests(ledgers: readonly Filled[], batches: number): number[] {
  const turns = Array.from({ length: TURNS }, (_, turn) => ledgers.map((ledger) => measureTurn(ledger, batches, turn * batches * BATCH)));
  return ledgers.map((_, index) => Math.min(...turns.slice(1).map((micros) => micros[index] ?? Number.NaN)));
}

function measureTurn({ apply, busyAccounts }: Filled, batches: number, from: number): number {
  const before = process.cpuUsage();
  for (let batch = 0; batch < batches; batch += 1) {
    const requests = Array.from({ length: BATCH }, (_, index) => makeRequest(busyAccounts, from + batch * BATCH + index, Date.now()));
    apply(requests.map(({ hold }) => hold));
    apply(requests.map(({ settle }) => settle));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / batches / BATCH;
}

function makeRequest(accountIds: readonly string[], index: number, createdAtMs: number): { hold: Operation; settle: Operation } {
  const accountId = accountIds[index % accountIds.length] ?? '';
  const common = { requestId: makeId('req', createdAtMs), accountId, keyId: `key_${accountId}`, model: 'm', priceVersion: 1, createdAtMs };
  const usage = { inputTokens: 100, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 50, reasoningTokens: 0 };
  const settlement: Settlement = {
    ...common,
    usage,
    provider: 'p',
    servedModel: 'm',
    isEstimated: false,
    cost: asNanos(200_000n),
    outcome: 'completed',
    errorCode: undefined,
    finishReason: 'stop',
    isStreaming: false,
    firstTokenMs: undefined,
    durationMs: 5,
    attempts: 1,
    failedAttempts: [],
    isDelivered: false,
  };
  return {
    hold: { type: 'hold', hold: { ...common, amount: asNanos(400_000n), minimum: asNanos(1000n) } },
    settle: { type: 'settle', settlement },
  };
}

/** Returns the fastest of several runs, in milliseconds. */
async function best(runs: number, work: () => Promise<unknown>): Promise<number> {
  let quickestMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const beganAtMs = performance.now();
    await work();
    quickestMs = Math.min(quickestMs, performance.now() - beganAtMs);
  }
  return quickestMs;
}
