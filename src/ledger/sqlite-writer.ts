import type { Database, Statement } from 'bun:sqlite';
import { openSqlite } from '../database/sqlite.ts';
import type { HoldRequest, Settlement } from './ledger.ts';
import { asNanos } from './money.ts';
import type { WriterReady, WriterResult, WriterTask } from './sqlite.ts';

declare const self: Worker;

/** The writer thread: the only place that writes money on the embedded database. */
function start(): void {
  const database = openSqlite(process.env['TOLLGATE_WRITER_DATABASE'] ?? '');
  releaseHoldsOfLastRun(database);
  const write = prepareWrite(database);
  self.onmessage = (event: MessageEvent<readonly WriterTask[]>) => self.postMessage(write(event.data));
}

/** One server owns the data folder, so every hold found at the start belongs to a run that crashed. */
function releaseHoldsOfLastRun(database: Database): void {
  database.transaction(() => {
    database.run('DELETE FROM holds');
    database.run('UPDATE wallets SET held = 0 WHERE held <> 0');
  })();
}

/** All tasks that wait are written in one transaction; when its commit fails, none of them happened. */
function prepareWrite(database: Database): (tasks: readonly WriterTask[]) => WriterResult[] {
  const wallets = new Wallets(database);
  const hold = prepareHold(database, wallets);
  const settle = prepareSettle(database, wallets);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  return (tasks) => {
    try {
      begin.run();
      const results = tasks.map((task) => (task.type === 'hold' ? hold(task.hold) : settle(task.settlement)));
      wallets.save();
      commit.run();
      return results;
    } catch (error) {
      wallets.forget();
      if (database.inTransaction) database.run('ROLLBACK');
      return tasks.map(() => ({ type: 'failed', reason: String(error) }));
    }
  };
}

interface Wallet {
  balance: bigint;
  held: bigint;
}

/**
 * The wallets that one transaction touches: read once, changed here, written once. Nobody else can change them between,
 * because the transaction began by locking out every other writer.
 */
class Wallets {
  readonly #read: Statement<Wallet, [string]>;
  readonly #write: Statement<undefined, [bigint, bigint, string]>;
  readonly #touched = new Map<string, Wallet>();

  constructor(database: Database) {
    this.#read = database.prepare('SELECT balance, held FROM wallets WHERE account_id = ?1');
    this.#write = database.prepare('UPDATE wallets SET balance = ?1, held = ?2 WHERE account_id = ?3');
  }

  find(accountId: string): Wallet {
    let wallet = this.#touched.get(accountId);
    if (wallet === undefined) {
      wallet = this.#read.get(accountId) ?? { balance: 0n, held: 0n };
      this.#touched.set(accountId, wallet);
    }
    return wallet;
  }

  save(): void {
    for (const [accountId, wallet] of this.#touched) this.#write.run(wallet.balance, wallet.held, accountId);
    this.forget();
  }

  forget(): void {
    this.#touched.clear();
  }
}

/** Takes as much as is wanted, at most what is available, and nothing when that is too little. */
function prepareHold(database: Database, wallets: Wallets): (request: HoldRequest) => WriterResult {
  const insert = database.prepare<undefined, [string, string, bigint]>('INSERT INTO holds VALUES (?1, ?2, ?3)');
  return ({ requestId, accountId, amount, minimum }) => {
    const wallet = wallets.find(accountId);
    const available = wallet.balance - wallet.held;
    // What costs nothing is served whatever the balance.
    if (minimum > 0n && available < minimum) return { type: 'insufficient_funds', available: asNanos(available) };
    const held = amount > available && amount > minimum ? available : amount;
    wallet.held += held;
    insert.run(requestId, accountId, held);
    return { type: 'held', amount: asNanos(held) };
  };
}

function prepareSettle(database: Database, wallets: Wallets): (settlement: Settlement) => WriterResult {
  const release = database.prepare<{ amount: bigint }, [string]>('DELETE FROM holds WHERE request_id = ?1 RETURNING amount');
  const record = database.prepare('INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)');
  return (settlement) => {
    const { requestId, accountId, usage, cost } = settlement;
    const hold = release.get(requestId);
    // No row: somebody settled it already. Thus at most once.
    if (hold === null) return { type: 'settled' };
    const wallet = wallets.find(accountId);
    wallet.held -= hold.amount;
    wallet.balance -= cost;
    record.run(
      requestId,
      accountId,
      settlement.keyId,
      settlement.model,
      settlement.provider,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.cacheWriteTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      settlement.isEstimated ? 1 : 0,
      cost,
      hold.amount,
      settlement.outcome,
      settlement.durationMs,
      settlement.createdAtMs,
    );
    return { type: 'settled' };
  };
}

function answerReady(): WriterReady {
  try {
    start();
    return { type: 'ready' };
  } catch (error) {
    return { type: 'broken', reason: String(error) };
  }
}

self.postMessage(answerReady());
