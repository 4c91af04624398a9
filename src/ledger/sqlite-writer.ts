import type { Database } from 'bun:sqlite';
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
  const hold = prepareHold(database);
  const settle = prepareSettle(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  return (tasks) => {
    try {
      begin.run();
      const results = tasks.map((task) => (task.type === 'hold' ? hold(task.hold) : settle(task.settlement)));
      commit.run();
      return results;
    } catch (error) {
      if (database.inTransaction) database.run('ROLLBACK');
      return tasks.map(() => ({ type: 'failed', reason: String(error) }));
    }
  };
}

function prepareHold(database: Database): (request: HoldRequest) => WriterResult {
  // One statement decides and takes: as much as is wanted, at most what is available, nothing when that is too little.
  const insert = database.prepare<{ amount: bigint }, [string, bigint, string, bigint]>(
    `INSERT INTO holds (request_id, account_id, amount)
     SELECT ?1, account_id, min(?2, max(balance - held, 0)) FROM wallets
     WHERE account_id = ?3 AND (?4 = 0 OR balance - held >= ?4) RETURNING amount`,
  );
  const raise = database.prepare<undefined, [bigint, string]>('UPDATE wallets SET held = held + ?1 WHERE account_id = ?2');
  const available = database.prepare<{ available: bigint }, [string]>(
    'SELECT balance - held AS available FROM wallets WHERE account_id = ?1',
  );
  return ({ requestId, accountId, amount, minimum }) => {
    const held = insert.get(requestId, amount, accountId, minimum);
    if (held === null) {
      return { type: 'insufficient_funds', available: asNanos(available.get(accountId)?.available ?? 0n) };
    }
    raise.run(held.amount, accountId);
    return { type: 'held', amount: asNanos(held.amount) };
  };
}

function prepareSettle(database: Database): (settlement: Settlement) => WriterResult {
  const release = database.prepare<{ amount: bigint }, [string]>('DELETE FROM holds WHERE request_id = ?1 RETURNING amount');
  const charge = database.prepare<undefined, [bigint, bigint, string]>(
    'UPDATE wallets SET held = held - ?1, balance = balance - ?2 WHERE account_id = ?3',
  );
  const record = database.prepare('INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)');
  return (settlement) => {
    const { requestId, accountId, usage, cost } = settlement;
    const held = release.get(requestId);
    // No row: somebody settled it already. Thus at most once.
    if (held === null) return { type: 'settled' };
    charge.run(held.amount, cost, accountId);
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
      held.amount,
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
