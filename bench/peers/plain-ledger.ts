import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Database } from 'bun:sqlite';
import { openSqlite } from '../../src/database/sqlite.ts';
import { GroupCommitLedger } from '../../src/ledger/group-commit.ts';
import type { HoldRequest, LedgerStore, Operation, OperationResult, Settlement } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';

const sync = promisify(fdatasync);

/** In place of `openLedger`: a gate with a plain balance, which is no ledger. */
export function openLedger({ databasePath }: { readonly databasePath: string }): GroupCommitLedger {
  return new GroupCommitLedger(new PlainBalance(databasePath));
}

/**
 * What a gate needs at least to charge for requests: a hold before a provider is called, kept in memory, and a charge afterwards, taken from
 * the balance in a transaction that is on disk before the answer ends. There are no transfers, usage rows, roll-ups, grants or budgets, and
 * nothing to recover from.
 */
class PlainBalance implements LedgerStore {
  isAlive = true;
  readonly #database: Database;
  readonly #logFile: number;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Open holds by request, and their sum by account. */
  readonly #holds = new Map<string, bigint>();
  readonly #held = new Map<string, bigint>();

  constructor(path: string) {
    this.#database = openSqlite(path);
    this.#database.run('PRAGMA synchronous = NORMAL');
    this.#logFile = openSync(`${path}-wal`, 'r');
    this.#statements = prepareStatements(this.#database);
  }

  async apply(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    const { begin, commit } = this.#statements;
    begin.run();
    const results = operations.map((operation) => this.#run(operation));
    commit.run();
    if (operations.some(({ type }) => type === 'settle')) await sync(this.#logFile);
    return results;
  }

  isRefusal(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.isAlive = false;
    closeSync(this.#logFile);
    this.#database.close();
  }

  #run(operation: Operation): OperationResult {
    if (operation.type === 'hold') return this.#hold(operation.hold);
    if (operation.type === 'settle') return this.#settle(operation.settlement);
    if (operation.type === 'extend') return { type: 'extended' };
    if (operation.type === 'progress') return { type: 'recorded' };
    return { type: 'done', count: 0 };
  }

  #hold({ requestId, accountId, amount, minimum }: HoldRequest): OperationResult {
    const held = this.#held.get(accountId) ?? 0n;
    const available = (this.#statements.readBalance.get(accountId)?.balance ?? 0n) - held;
    if (available < minimum) return { type: 'insufficient_funds', available: asNanos(available) };
    const taken = amount < available ? amount : available;
    this.#holds.set(requestId, taken);
    this.#held.set(accountId, held + taken);
    return { type: 'held', amount: asNanos(taken) };
  }

  #settle({ requestId, accountId, cost }: Settlement): OperationResult {
    const taken = this.#holds.get(requestId);
    if (taken === undefined) return { type: 'resolved_before' };
    this.#holds.delete(requestId);
    this.#held.set(accountId, (this.#held.get(accountId) ?? 0n) - taken);
    this.#statements.charge.run(cost, accountId);
    return { type: 'settled' };
  }
}

function prepareStatements(database: Database) {
  return {
    begin: database.query('BEGIN IMMEDIATE'),
    commit: database.query('COMMIT'),
    readBalance: database.query<{ balance: bigint }, [string]>(
      'SELECT credits_posted - debits_posted AS balance FROM wallets WHERE account_id = ?1',
    ),
    charge: database.query('UPDATE wallets SET debits_posted = debits_posted + ?1 WHERE account_id = ?2'),
  };
}
