import { GatewayError } from '../errors.ts';
import type {
  Extension,
  HoldRequest,
  HoldResult,
  Ledger,
  LedgerStore,
  Operation,
  OperationResult,
  Progress,
  SetAside,
  SettleResult,
  Settlement,
} from './ledger.ts';
import { insteadOf, releaseOf, subjectOf, withheldOf } from './instead.ts';

/** A batch is one transaction: large enough to share its fsync, small enough not to delay others. */
const BATCH_MAX = 512;
/** How many event-loop turns a transaction waits for more operations, at most. An operation that arrives alone waits for one. */
const GATHER_TURNS_MAX = 2;
/** The queue grows this long only when the store hangs. New work is then refused instead of queued. */
const WAITING_MAX = 20_000;
/** At most this many changed accounts are remembered for the next verification. When the others change again, their balances are verified. */
const CHANGED_MAX = 100_000;
/** How many transactions take back expired credit in one go. Requests that end meanwhile may free more of it, without end. */
const EXPIRY_TURNS_MAX = 500;
const CLOSE_POLL_MS = 5;
/** Work still unwritten after this is settled by the next start, or by another node. */
const CLOSE_MS_MAX = 30_000;
const WATCH_INTERVAL_MS = 500;

/** Accounts to verify, and when the first charge came that has not been. */
export interface ChangedAccounts {
  readonly accountIds: readonly string[];
  readonly sinceMs: number;
}

/** How long the ledger waits for its store. */
export interface LedgerTimeouts {
  /** A hold not written in this time is refused: nothing has been sent to a provider yet. */
  readonly holdMs: number;
  /** A settlement not written in this time stays queued, but its caller stops waiting. */
  readonly settleMs: number;
  readonly retryMs: number;
}

const TIMEOUTS: LedgerTimeouts = { holdMs: 5000, settleMs: 15_000, retryMs: 100 };

interface Waiting {
  operation: Operation;
  readonly sinceMs: number;
  readonly resolve: (result: OperationResult) => void;
  readonly reject: (error: unknown) => void;
  hasTimedOut: boolean;
}

/**
 * The ledger in front of a store. Operations that arrive while a transaction commits queue up and share the next one, so
 * one fsync serves many requests and no request waits for a timer. A failed transaction is retried: holds until their
 * callers time out, settlements for as long as the process lives. If an operation is at fault, it is found by trying ever
 * fewer at once, and set aside, so that the others are written.
 */
export class GroupCommitLedger implements Ledger {
  readonly #store: LedgerStore;
  readonly #timeouts: LedgerTimeouts;
  readonly #onSetAside: (operation: SetAside) => void;
  #batchMax = BATCH_MAX;
  #setAsideCount = 0;
  #waiting: Waiting[] = [];
  #inFlight: readonly Waiting[] = [];
  #isGathering = false;
  #isClosed = false;
  readonly #changed = new Set<string>();
  #changedSinceMs = Number.POSITIVE_INFINITY;
  /** Why the last transaction failed; undefined when it succeeded. */
  #failure: unknown;
  #suspension: Error | undefined;
  readonly #watch: ReturnType<typeof setInterval>;
  readonly #loss = Promise.withResolvers<unknown>();
  /** Resolves with the reason if the store dies by itself. Nothing can be written until the next start. */
  readonly lost = this.#loss.promise;

  constructor(store: LedgerStore, timeouts: LedgerTimeouts = TIMEOUTS, onSetAside: (operation: SetAside) => void = () => undefined) {
    this.#store = store;
    this.#onSetAside = onSetAside;
    this.#timeouts = timeouts;
    this.#watch = setInterval(() => this.#timeOutLate(), Math.min(WATCH_INTERVAL_MS, timeouts.holdMs)).unref();
  }

  hold(hold: HoldRequest): Promise<HoldResult> {
    if (this.#suspension !== undefined) return Promise.reject(unavailable(this.#suspension));
    return this.#submit({ type: 'hold', hold }) as Promise<HoldResult>;
  }

  async extend(extension: Extension): Promise<boolean> {
    return (await this.#submit({ type: 'extend', extension })).type === 'extended';
  }

  progress(progress: Progress): void {
    // Losing a progress record costs the operator one second of a stream, and only if the process dies before the next record.
    void this.#submit({ type: 'progress', progress }).catch(() => undefined);
  }

  settle(settlement: Settlement): Promise<SettleResult> {
    if (this.#changed.size === 0) this.#changedSinceMs = Date.now();
    if (this.#changed.size < CHANGED_MAX) this.#changed.add(settlement.accountId);
    return this.#submit({ type: 'settle', settlement }).then(settleResultOf);
  }

  /** Settles the holds that dead processes left open; returns how many. */
  async recover(): Promise<number> {
    const result = await this.#submit({ type: 'recover' });
    for (const requestId of (result.type === 'done' && result.stuck) || []) this.#note({ type: 'recover', requestId });
    return countOf(result);
  }

  /** Takes back expired credit, in small transactions between the others; returns how many grants expired. */
  async expire(nowMs: number): Promise<number> {
    let total = 0;
    for (let turns = 0; turns < EXPIRY_TURNS_MAX; turns += 1) {
      const count = countOf(await this.#submit({ type: 'expire', nowMs }));
      if (count === 0) break;
      total += count;
    }
    return total;
  }

  /** Deletes usage rows with smaller ids, in small transactions between the others; returns how many. */
  async prune(beforeId: string): Promise<number> {
    let total = 0;
    for (let count = 1; count > 0; total += count) count = countOf(await this.#submit({ type: 'prune', beforeId }));
    return total;
  }

  get isWritable(): boolean {
    return this.#store.isAlive && this.#failure === undefined && this.#suspension === undefined;
  }

  /** Refuses new requests for this reason; undefined accepts them again. Running ones are still charged. */
  suspend(reason: Error | undefined): void {
    this.#suspension = reason;
  }

  /** How many operations are waiting to be written. */
  get waitingCount(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /** How many operations could not be written since the start, and holds not be recovered. */
  get setAsideCount(): number {
    return this.#setAsideCount;
  }

  /** Adds accounts to the next verification. */
  markChanged({ accountIds, sinceMs }: ChangedAccounts): void {
    this.#changedSinceMs = Math.min(this.#changedSinceMs, sinceMs);
    for (const accountId of accountIds) if (this.#changed.size < CHANGED_MAX) this.#changed.add(accountId);
  }

  /** Returns and clears the accounts charged since the last call, up to the limit. */
  takeChanged(): ChangedAccounts {
    const changed = { accountIds: [...this.#changed], sinceMs: this.#changedSinceMs };
    this.#changed.clear();
    this.#changedSinceMs = Number.POSITIVE_INFINITY;
    return changed;
  }

  async close(): Promise<void> {
    const deadlineMs = performance.now() + CLOSE_MS_MAX;
    while (this.#store.isAlive && this.waitingCount > 0 && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    clearInterval(this.#watch);
    this.#isClosed = true;
    await this.#store.close();
  }

  #submit(operation: Operation): Promise<OperationResult> {
    if (!this.#store.isAlive) return Promise.reject(unavailable(new Error('the store is closed')));
    // A delivered answer must be charged, so settlements always get a place in the queue.
    if (operation.type !== 'settle' && this.#waiting.length >= WAITING_MAX)
      return Promise.reject(unavailable(new Error('too many operations are waiting')));
    const { promise, resolve, reject } = Promise.withResolvers<OperationResult>();
    this.#waiting.push({ operation, resolve, reject, sinceMs: performance.now(), hasTimedOut: false });
    if (this.#inFlight.length === 0) this.#gather();
    return promise;
  }

  #flush(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0 || this.#isGathering) return;
    const batch = this.#waiting.length <= this.#batchMax ? this.#waiting : this.#waiting.slice(0, this.#batchMax);
    this.#waiting = this.#waiting.length <= this.#batchMax ? [] : this.#waiting.slice(this.#batchMax);
    this.#inFlight = batch;
    const operations = batch.map(({ operation }) => operation);
    this.#store.apply(operations).then(
      (results) => {
        // These timed out during the transaction but were written after all. What replaces them goes next.
        const replaced = batch.filter(({ operation }, index) => operation !== operations[index]);
        if (replaced.length > 0) this.#waiting.unshift(...replaced);
        this.#committed(batch, results);
      },
      (error: unknown) => (this.#store.isAlive && this.#store.isRefusal(error) ? this.#narrow(batch, error) : this.#failed(batch, error)),
    );
  }

  /**
   * A store that hangs may stay silent for long, and no caller should wait that long for a hold. A settlement already in flight
   * is waited for: if it committed after its caller had received an error, the caller would pay for an answer it never got.
   */
  #timeOutLate(): void {
    const nowMs = performance.now();
    const isLate = ({ operation, sinceMs, hasTimedOut }: Waiting, isInFlight: boolean): boolean => {
      if (hasTimedOut || nowMs - sinceMs < this.#timeoutOf(operation)) return false;
      return operation.type !== 'settle' || operation.settlement.isDelivered || !isInFlight;
    };
    const late = [...this.#inFlight.filter((each) => isLate(each, true)), ...this.#waiting.filter((each) => isLate(each, false))];
    for (const waiting of late) timeOut(waiting, this.#failure ?? new Error('the store does not answer'));
  }

  #timeoutOf({ type }: Operation): number {
    return type === 'settle' ? this.#timeouts.settleMs : this.#timeouts.holdMs;
  }

  #committed(batch: readonly Waiting[], results: readonly OperationResult[]): void {
    this.#inFlight = [];
    this.#failure = undefined;
    this.#batchMax = Math.min(BATCH_MAX, 2 * this.#batchMax);
    let index = -1;
    for (const { resolve, reject } of batch) {
      index += 1;
      const result = results[index];
      if (result === undefined) reject(unavailable(new Error('the store gave no answer')));
      else resolve(result);
    }
    if (this.#waiting.length > 0) this.#gather();
  }

  /** Waits for the rest of this event-loop turn, so that operations about to arrive join the next transaction. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#awaitTurn(GATHER_TURNS_MAX);
  }

  /** Waits for another turn if this one brings more operations. Under load transactions are then fewer, and each costs as much as several operations. */
  #awaitTurn(turnsLeft: number): void {
    const before = this.#waiting.length;
    setImmediate(() => {
      if (this.#waiting.length > before && turnsLeft > 1) this.#awaitTurn(turnsLeft - 1);
      else this.#resume();
    });
  }

  /** Tries half of a refused batch, or sets aside the operation that was refused alone. */
  #narrow(batch: readonly Waiting[], error: unknown): void {
    this.#inFlight = [];
    this.#failure = undefined;
    this.#batchMax = Math.ceil(batch.length / 2);
    const [first] = batch;
    if (batch.length > 1) this.#waiting.unshift(...batch.filter(isStillWanted));
    else if (first !== undefined) this.#setAside(first, error);
    this.#flush();
  }

  #setAside({ operation, reject }: Waiting, error: unknown): void {
    this.#note({ ...subjectOf(operation), error });
    reject(new GatewayError('ledger_unavailable', operation.type === 'settle' ? UNCHARGEABLE : REFUSED, { cause: error }));
    const instead = insteadOf(operation);
    if (instead !== undefined) void this.#submit(instead).catch(() => undefined);
  }

  #note(operation: SetAside): void {
    this.#setAsideCount += 1;
    this.#onSetAside(operation);
  }

  /** Puts a failed batch at the head of the queue, and rejects operations that have timed out. */
  #failed(batch: readonly Waiting[], error: unknown): void {
    const nowMs = performance.now();
    this.#inFlight = [];
    this.#failure = error;
    if (!this.#store.isAlive && !this.#isClosed) this.#loss.resolve(error);
    const again: Waiting[] = [];
    for (const waiting of [...batch, ...this.#waiting]) {
      const isLate = nowMs - waiting.sinceMs >= this.#timeoutOf(waiting.operation);
      if ((isLate || !this.#store.isAlive) && !waiting.hasTimedOut) timeOut(waiting, error);
      if (this.#store.isAlive && isStillWanted(waiting)) again.push(waiting);
    }
    this.#waiting = again;
    if (again.length === 0) return;
    this.#isGathering = true;
    setTimeout(() => this.#resume(), this.#timeouts.retryMs);
  }

  #resume(): void {
    this.#isGathering = false;
    this.#flush();
  }
}

function isStillWanted({ hasTimedOut, operation }: Waiting): boolean {
  return !hasTimedOut || operation.type === 'settle';
}

/**
 * Rejects the caller's promise. Settlements stay queued: a delivered answer must be charged, and the hold of an answer the
 * caller does not get must be released. A hold that may have been written without our knowing must be released too.
 */
function timeOut(waiting: Waiting, error: unknown): void {
  waiting.hasTimedOut = true;
  const { operation } = waiting;
  if (operation.type !== 'settle') waiting.reject(unavailable(error));
  else waiting.reject(unavailable(error, operation.settlement.isDelivered ? UNCONFIRMED : WITHHELD));
  if (operation.type === 'hold') waiting.operation = releaseOf(operation.hold);
  if (operation.type === 'settle' && !operation.settlement.isDelivered) waiting.operation = withheldOf(operation.settlement);
}

function settleResultOf({ type }: OperationResult): SettleResult {
  return type as SettleResult;
}

function countOf(result: OperationResult): number {
  return result.type === 'done' ? result.count : 0;
}

const UNAVAILABLE = 'The ledger cannot be written at the moment, so nothing was charged. Try again shortly.';
const UNCONFIRMED =
  'The ledger cannot be written at the moment. The answer is otherwise complete, and will be charged as soon as the ledger is back.';
/** A store that failed in the middle of a write may have written it. */
const WITHHELD =
  'The ledger cannot be written at the moment, so the answer is withheld. It is charged only if the charge was written before the ledger failed; your usage shows whether it was.';

const REFUSED = 'The ledger cannot record this request, so nothing was charged. The operator has been told.';
const UNCHARGEABLE = 'The ledger cannot record the charge of this answer. The operator has been told.';

function unavailable(cause: unknown, message = UNAVAILABLE): GatewayError {
  return new GatewayError('ledger_unavailable', message, { cause, ...(message !== UNCONFIRMED && { retryAfterSeconds: 1 }) });
}
