import type { Database } from 'bun:sqlite';
import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { longestRefusal, type Budget } from './budget.ts';
import { STUCK, type Extension, type HoldRequest, type Operation, type OperationResult, type Progress, type Settlement } from './ledger.ts';
import { asNanos, least } from './money.ts';
import { SqliteBooks } from './sqlite-books.ts';

/** Applies operations to the embedded database, all of one call in one transaction. */
export type Apply = (operations: readonly Operation[]) => OperationResult[];

/** Prepares the ledger's hot statements. `nodeId` marks the holds of this process, to tell them from those of a dead one. */
export function prepareApply(database: Database, nodeId: string): Apply {
  const books = new SqliteBooks(database);
  const ledger = new SqliteOperations(database, books, nodeId);
  // All by `query`, which tells SQLite that a statement is kept: it then leaves the connection's quick memory to those that run.
  const begin = database.query('BEGIN IMMEDIATE');
  const commit = database.query('COMMIT');
  return (operations) => {
    // IMMEDIATE locks out all other writers, so what the books read stays true until they are saved.
    begin.run();
    try {
      books.begin();
      const results = operations.map((operation) => ledger.run(operation));
      books.save();
      commit.run();
      return results;
    } catch (error) {
      books.forget();
      if (database.inTransaction) database.run('ROLLBACK');
      throw error;
    }
  };
}

/** True for what an operation causes by itself: SQLite refuses a value, or this code does before it. */
export function isRefusal(error: unknown): boolean {
  const code = String((error as { readonly code?: unknown }).code);
  return !code.startsWith('SQLITE_') || /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/u.test(code);
}

type HoldRow = Selectable<Tables['holds']>;

class SqliteOperations {
  readonly #database: Database;
  readonly #books: SqliteBooks;
  readonly #nodeId: string;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database, books: SqliteBooks, nodeId: string) {
    this.#database = database;
    this.#books = books;
    this.#nodeId = nodeId;
    this.#statements = prepareStatements(database);
  }

  run(operation: Operation): OperationResult {
    switch (operation.type) {
      case 'hold':
        return this.#hold(operation.hold);
      case 'extend':
        return this.#extend(operation.extension);
      case 'progress':
        return this.#progress(operation.progress);
      case 'settle':
        return this.#settle(operation.settlement);
      case 'recover':
        return this.#recover();
      case 'expire':
        return { type: 'done', count: this.#books.expire(operation.nowMs) };
      case 'prune':
        return this.#prune(operation.beforeId);
    }
  }

  #hold(hold: HoldRequest): OperationResult {
    const wallet = this.#books.wallet(hold.accountId);
    const budgets = this.#books.budgets(hold.keyId);
    let available = this.#books.available(hold.accountId);
    if (hold.minimum > 0n && available < hold.minimum) return this.#heldBefore(hold) ?? insufficient(wallet, available);
    if (budgets.length > 0) {
      // A repeated hold must not move a budget window, so with budgets it is looked up first. Without budgets the insert finds it.
      const earlier = this.#heldBefore(hold);
      if (earlier !== undefined) return earlier;
      for (const budget of budgets) budget.turn(hold.createdAtMs);
      const refused = hold.minimum > 0n ? refuseByBudget(budgets, hold) : undefined;
      if (refused !== undefined) return refused;
      for (const budget of budgets) available = least(available, budget.leftAt(hold.createdAtMs));
    }
    const amount = hold.amount > available && hold.amount > hold.minimum ? available : hold.amount;
    const { changes } = this.#statements.insertHold.run(
      hold.requestId,
      hold.accountId,
      hold.keyId,
      hold.model,
      hold.priceVersion,
      amount,
      this.#nodeId,
      hold.createdAtMs,
    );
    const earlier = changes === 0 ? this.#heldBefore(hold) : undefined;
    if (earlier !== undefined) return earlier;
    wallet.debitsPending += amount;
    for (const budget of budgets) budget.held += amount;
    return { type: 'held', amount: asNanos(amount) };
  }

  /** Returns the hold if this is a repeat after a lost reply. Its own money must not count as missing. */
  #heldBefore({ requestId }: HoldRequest): OperationResult | undefined {
    const earlier = this.#statements.findHold.get(requestId);
    return earlier === null ? undefined : { type: 'held', amount: asNanos(earlier.amount) };
  }

  #extend({ requestId, accountId, keyId, total }: Extension): OperationResult {
    const held = this.#statements.findHold.get(requestId)?.amount;
    if (held === undefined) return { type: 'refused' };
    // A repeated extension, because the first reply was lost.
    if (held >= total) return { type: 'extended' };
    const amount = total - held;
    const wallet = this.#books.wallet(accountId);
    const budgets = this.#books.budgets(keyId);
    const nowMs = Date.now();
    for (const budget of budgets) budget.turn(nowMs);
    const isAffordable = this.#books.available(accountId) >= amount && budgets.every((budget) => budget.leftAt(nowMs) >= amount);
    if (!isAffordable) return { type: 'refused' };
    this.#statements.growHold.run(total, requestId);
    wallet.debitsPending += amount;
    for (const budget of budgets) budget.held += amount;
    return { type: 'extended' };
  }

  #progress({ usage, provider, cost, requestId }: Progress): OperationResult {
    this.#statements.recordProgress.run(
      cost,
      provider,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.cacheWriteTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      requestId,
    );
    return { type: 'recorded' };
  }

  /** Settles at most once: only the call that deletes the hold row writes anything. */
  #settle(settlement: Settlement): OperationResult {
    const hold = this.#statements.findHold.get(settlement.requestId);
    if (hold === null) return { type: 'resolved_before' };
    this.#statements.deleteHold.run(settlement.requestId);
    const wallet = this.#books.wallet(settlement.accountId);
    const budgets = this.#books.budgets(settlement.keyId);
    wallet.debitsPending -= hold.amount;
    for (const budget of budgets) budget.held -= hold.amount;
    // A hold that was repeated after its settlement is only released: the request was already charged.
    if (!this.#insertUsage(settlement, hold.amount)) return { type: 'resolved_before' };
    wallet.debitsPosted += settlement.cost;
    for (const budget of budgets) budget.spend(settlement.cost, settlement.createdAtMs);
    if (settlement.cost > 0n) this.#pay(settlement);
    this.#books.count(settlement);
    return { type: 'settled' };
  }

  /** Takes the cost from the account's credit, and records how much came from a plan or promotion. Most accounts have neither. */
  #pay({ requestId, accountId, cost, createdAtMs, durationMs }: Settlement): void {
    const { plan, promo } = this.#books.draw(accountId, cost);
    if (plan + promo > 0n) this.#statements.notePaidFrom.run(plan, promo, requestId);
    this.#statements.insertTransfer.run(requestId, `wallet:${accountId}`, cost, createdAtMs + durationMs);
  }

  /** Returns false when the request already has its usage row. */
  #insertUsage(settlement: Settlement, held: bigint): boolean {
    const { usage } = settlement;
    const { changes } = this.#statements.insertUsage.run(
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
      settlement.priceVersion,
      settlement.cost,
      held,
      settlement.outcome,
      settlement.firstTokenMs ?? null,
      settlement.durationMs,
      settlement.attempts,
      settlement.createdAtMs,
      settlement.isStreaming ? 1 : 0,
      settlement.finishReason ?? null,
      settlement.errorCode ?? null,
      settlement.servedModel,
      settlement.endUser ?? null,
    );
    if (changes === 0) return false;
    for (const [index, attempt] of settlement.failedAttempts.entries())
      this.#statements.insertAttempt.run(settlement.requestId, index + 1, attempt.provider, attempt.outcome, attempt.durationMs);
    return true;
  }

  /** One process owns the embedded database, so any other node's hold belongs to a dead process. */
  #recover(): OperationResult {
    const rows = this.#database.query<HoldRow, [string]>('SELECT * FROM holds WHERE node_id <> ?1 ORDER BY id').all(this.#nodeId);
    this.#books.save();
    const results = rows.map((row) => ({ row, type: this.#recoverOne(row) }));
    const stuck = results.filter(({ row, type }) => type === STUCK && row.node_id !== STUCK).map(({ row }) => row.id);
    return { type: 'done', count: results.filter(({ type }) => type === 'settled').length, ...(stuck.length > 0 && { stuck }) };
  }

  /** Settles one hold. If that is impossible, the others are settled nevertheless. */
  #recoverOne(row: HoldRow): OperationResult['type'] | typeof STUCK {
    this.#database.run('SAVEPOINT recovery');
    try {
      const { type } = this.#settle(recoverySettlement(row, Date.now()));
      this.#books.save();
      return type;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#books.forget();
      this.#database.run('ROLLBACK TO recovery');
      this.#statements.markStuck.run(row.id);
      return STUCK;
    } finally {
      if (this.#database.inTransaction) this.#database.run('RELEASE recovery');
    }
  }

  #prune(beforeId: string): OperationResult {
    const { changes } = this.#statements.pruneUsage.run(beforeId);
    this.#statements.pruneAttempts.run(beforeId);
    return { type: 'done', count: changes };
  }
}

function insufficient({ planResetsAtMs: resetsAtMs }: { readonly planResetsAtMs: number | undefined }, left: bigint): OperationResult {
  const available = asNanos(left);
  return resetsAtMs === undefined ? { type: 'insufficient_funds', available } : { type: 'plan_exhausted', available, resetsAtMs };
}

function refuseByBudget(budgets: readonly Budget[], { minimum, createdAtMs }: HoldRequest): OperationResult | undefined {
  const refusal = longestRefusal(budgets.map((budget) => budget.refuse(minimum, createdAtMs)).filter((one) => one !== undefined));
  return refusal && { type: 'budget_exhausted', ...refusal, available: asNanos(refusal.available) };
}

/** Builds the settlement for a hold whose process died: the last recorded progress, never more than was held. */
function recoverySettlement(row: HoldRow, nowMs: number): Settlement {
  const createdAtMs = Number(row.created_at);
  return {
    requestId: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    provider: row.provider,
    servedModel: '',
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedInputTokens: Number(row.cached_input_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    isEstimated: row.progress > 0n,
    priceVersion: Number(row.price_version),
    cost: asNanos(least(row.progress, row.amount)),
    outcome: 'recovered',
    errorCode: undefined,
    finishReason: undefined,
    // Only streams record progress.
    isStreaming: row.progress > 0n,
    firstTokenMs: undefined,
    durationMs: Math.max(0, nowMs - createdAtMs),
    createdAtMs,
    attempts: 0,
    failedAttempts: [],
    isDelivered: true,
  };
}

function prepareStatements(database: Database) {
  return {
    findHold: database.query<{ amount: bigint }, [string]>('SELECT amount FROM holds WHERE id = ?1'),
    insertHold: database.query(
      `INSERT INTO holds (id, account_id, key_id, model, price_version, amount, node_id, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING`,
    ),
    growHold: database.query('UPDATE holds SET amount = ?1 WHERE id = ?2'),
    recordProgress: database.query(
      `UPDATE holds SET progress = ?1, provider = ?2, input_tokens = ?3, cached_input_tokens = ?4, cache_write_tokens = ?5,
       output_tokens = ?6, reasoning_tokens = ?7 WHERE id = ?8`,
    ),
    // Without RETURNING, which would build a temporary table for its one row.
    deleteHold: database.query('DELETE FROM holds WHERE id = ?1'),
    markStuck: database.query(`UPDATE holds SET node_id = '${STUCK}' WHERE id = ?1`),
    insertTransfer: database.query(
      `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at) VALUES (?1, ?2, 'revenue', ?3, 'usage', '', ?4)`,
    ),
    insertUsage: database.query(
      `INSERT INTO usage (request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens,
         output_tokens, reasoning_tokens, is_estimated, price_version, cost, held, outcome, first_token_ms, duration_ms, attempts, created_at,
         is_streaming, finish_reason, error_code, served_model, end_user)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)
       ON CONFLICT DO NOTHING`,
    ),
    notePaidFrom: database.query('UPDATE usage SET plan_cost = ?1, promo_cost = ?2 WHERE request_id = ?3'),
    pruneUsage: database.query(
      'DELETE FROM usage WHERE request_id IN (SELECT request_id FROM usage WHERE request_id < ?1 ORDER BY request_id LIMIT 100)',
    ),
    pruneAttempts: database.query(
      `DELETE FROM attempts WHERE request_id < ?1 AND request_id < (SELECT COALESCE(MIN(request_id), ?1) FROM usage)`,
    ),
    insertAttempt: database.query('INSERT INTO attempts (request_id, n, provider, outcome, duration_ms) VALUES (?1, ?2, ?3, ?4, ?5)'),
  };
}
