import type { Database, Statement } from 'bun:sqlite';
import { openSqlite } from '../database/sqlite.ts';
import type { Settlement } from './ledger.ts';
import type { Nanos } from './money.ts';
import { CLOSE } from './sqlite-thread.ts';

/** One piece of work for the writer thread. */
export type WriterTask =
  | { readonly type: 'read'; readonly accountId: string }
  | { readonly type: 'settle'; readonly settlement: Settlement; readonly held: Nanos }
  | { readonly type: 'publish'; readonly accountId: string; readonly held: Nanos };

/** The answer to one task: the balance after it, or that nothing of it was written. */
export type WriterResult = { readonly type: 'done'; readonly balance: bigint } | { readonly type: 'failed'; readonly reason: string };

/** The writer says this once, when its database is open. */
export type WriterReady = { readonly type: 'ready' } | { readonly type: 'broken'; readonly reason: string };

declare const self: Worker;

/** The writer thread: the only place that writes charges on the embedded database. */
function start(): void {
  const database = openSqlite(process.env['TOLLGATE_WRITER_DATABASE'] ?? '');
  // Holds live in the memory of the one server that owns the data folder: what is left here is of a run that crashed.
  database.run('UPDATE wallets SET held = 0 WHERE held <> 0');
  const write = prepareWrite(database);
  self.onmessage = ({ data }: MessageEvent<readonly WriterTask[] | typeof CLOSE>) => {
    if (data === CLOSE) database.close();
    self.postMessage(data === CLOSE ? CLOSE : write(data));
  };
}

/** All tasks that wait are written in one transaction; when its commit fails, none of them happened. */
function prepareWrite(database: Database): (tasks: readonly WriterTask[]) => WriterResult[] {
  const wallets = new Wallets(database);
  const record = prepareRecord(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const run = (task: WriterTask): WriterResult => {
    const wallet = wallets.find(task.type === 'settle' ? task.settlement.accountId : task.accountId);
    if (task.type === 'settle' && record(task.settlement, task.held)) wallet.balance -= task.settlement.cost;
    if (task.type === 'publish') wallet.held = task.held;
    return { type: 'done', balance: wallet.balance };
  };
  return (tasks) => {
    try {
      begin.run();
      const results = tasks.map(run);
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

/** Writes a usage row; false when the request has one already. Thus no request is ever charged twice. */
function prepareRecord(database: Database): (settlement: Settlement, held: Nanos) => boolean {
  const insert = database.prepare(
    'INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING',
  );
  return (settlement, held) => {
    const { usage } = settlement;
    const { changes } = insert.run(
      settlement.requestId,
      settlement.accountId,
      settlement.keyId,
      settlement.model,
      settlement.provider,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.cacheWriteTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      settlement.isEstimated ? 1 : 0,
      settlement.cost,
      held,
      settlement.outcome,
      settlement.durationMs,
      settlement.createdAtMs,
    );
    return changes === 1;
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
