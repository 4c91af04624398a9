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
  SettleResult,
  Settlement,
} from './ledger.ts';
import { NO_MONEY } from './money.ts';
import { NO_TOKENS } from '../tokens.ts';

/** A batch is one transaction: large enough to share its fsync, small enough not to keep others waiting. */
const BATCH_MAX = 512;
/** More operations than this wait only when the store hangs; then new work is refused instead of remembered. */
const WAITING_MAX = 20_000;
/** More accounts than this are not verified in one turn; they will be in a later one. */
const CHANGED_MAX = 1000;
const CLOSE_POLL_MS = 5;
/** What cannot be written by then is settled by the next start, or by another node. */
const CLOSE_MS_MAX = 30_000;
const WATCH_INTERVAL_MS = 500;

/** How patient the ledger is with its store. */
export interface Patience {
  /** A hold that is not written by then is refused: nothing has been sent to a provider yet. */
  readonly holdMs: number;
  /** A settlement that is not written by then goes on waiting, but its caller does not. */
  readonly settleMs: number;
  readonly retryMs: number;
}

const PATIENCE: Patience = { holdMs: 5000, settleMs: 15_000, retryMs: 100 };

interface Waiting {
  operation: Operation;
  readonly sinceMs: number;
  readonly resolve: (result: OperationResult) => void;
  readonly reject: (error: unknown) => void;
  isGivenUp: boolean;
}

/**
 * The ledger in front of a store. Operations that arrive while a transaction commits wait and go together in the next
 * one, so one fsync serves many requests and nobody waits for a timer. A transaction that fails is tried again: holds until
 * their callers have waited long enough, settlements for as long as the process lives.
 */
export class GroupCommitLedger implements Ledger {
  readonly #store: LedgerStore;
  readonly #patience: Patience;
  #waiting: Waiting[] = [];
  #inFlight: readonly Waiting[] = [];
  #isGathering = false;
  #isClosed = false;
  readonly #changed = new Set<string>();
  /** Why the last transaction failed; undefined when it did not. */
  #failure: unknown;
  readonly #watch: ReturnType<typeof setInterval>;
  readonly #loss = Promise.withResolvers<unknown>();
  /** Resolves, with the reason, should the store end by itself: then nothing can be written until the next start. */
  readonly lost = this.#loss.promise;

  constructor(store: LedgerStore, patience: Patience = PATIENCE) {
    this.#store = store;
    this.#patience = patience;
    this.#watch = setInterval(() => this.#giveUpLate(), Math.min(WATCH_INTERVAL_MS, patience.holdMs)).unref();
  }

  hold(hold: HoldRequest): Promise<HoldResult> {
    return this.#submit({ type: 'hold', hold }) as Promise<HoldResult>;
  }

  async extend(extension: Extension): Promise<boolean> {
    return (await this.#submit({ type: 'extend', extension })).type === 'extended';
  }

  progress(progress: Progress): void {
    // A lost progress costs the operator a second of a stream, and only if the process dies within the next.
    void this.#submit({ type: 'progress', progress }).catch(() => undefined);
  }

  async settle(settlement: Settlement): Promise<SettleResult> {
    if (this.#changed.size < CHANGED_MAX) this.#changed.add(settlement.accountId);
    return (await this.#submit({ type: 'settle', settlement })).type as SettleResult;
  }

  /** Settles what dead processes left open; gives how many holds there were. */
  async recover(): Promise<number> {
    return countOf(await this.#submit({ type: 'recover' }));
  }

  /** Takes back credit whose time is over; gives how many grants there were. */
  async expire(nowMs: number): Promise<number> {
    return countOf(await this.#submit({ type: 'expire', nowMs }));
  }

  /** Drops usage rows with smaller ids, in small transactions between the others; gives how many there were. */
  async prune(beforeId: string): Promise<number> {
    let total = 0;
    for (let count = 1; count > 0; total += count) count = countOf(await this.#submit({ type: 'prune', beforeId }));
    return total;
  }

  get isWritable(): boolean {
    return this.#store.isAlive && this.#failure === undefined;
  }

  /** How many operations wait to be written. */
  get waitingCount(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /** These accounts are verified in the next turn. */
  markChanged(accountIds: readonly string[]): void {
    for (const accountId of accountIds) if (this.#changed.size < CHANGED_MAX) this.#changed.add(accountId);
  }

  /** The accounts that were charged since this was last asked, as far as they were remembered. */
  takeChanged(): readonly string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  async close(): Promise<void> {
    const giveUpAtMs = performance.now() + CLOSE_MS_MAX;
    while (this.#store.isAlive && this.waitingCount > 0 && performance.now() < giveUpAtMs)
      await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    clearInterval(this.#watch);
    this.#isClosed = true;
    await this.#store.close();
  }

  #submit(operation: Operation): Promise<OperationResult> {
    if (!this.#store.isAlive) return Promise.reject(unavailable(new Error('the store has ended')));
    // What was delivered must be charged, so settlements always find room.
    if (operation.type !== 'settle' && this.#waiting.length >= WAITING_MAX)
      return Promise.reject(unavailable(new Error('too much work is waiting')));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject, sinceMs: performance.now(), isGivenUp: false });
      if (this.#inFlight.length === 0) this.#gather();
    });
  }

  #flush(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0 || this.#isGathering) return;
    const batch = this.#waiting.length <= BATCH_MAX ? this.#waiting : this.#waiting.slice(0, BATCH_MAX);
    this.#waiting = this.#waiting.length <= BATCH_MAX ? [] : this.#waiting.slice(BATCH_MAX);
    this.#inFlight = batch;
    const operations = batch.map(({ operation }) => operation);
    this.#store.apply(operations).then(
      (results) => {
        // Given up meanwhile, and done after all: what is to be done instead comes next.
        this.#waiting.unshift(...batch.filter(({ operation }, index) => operation !== operations[index]));
        this.#committed(batch, results);
      },
      (error: unknown) => this.#failed(batch, error),
    );
  }

  /**
   * A store that hangs says nothing for long, and nobody should wait that long for a hold. A settlement that is under way
   * is waited for: should it happen after all, a caller who was told otherwise would be charged for nothing.
   */
  #giveUpLate(): void {
    const nowMs = performance.now();
    const isLate = ({ operation, sinceMs, isGivenUp }: Waiting, isUnderWay: boolean): boolean => {
      if (isGivenUp || nowMs - sinceMs < this.#patienceWith(operation)) return false;
      return operation.type !== 'settle' || operation.settlement.isDelivered || !isUnderWay;
    };
    const late = [...this.#inFlight.filter((each) => isLate(each, true)), ...this.#waiting.filter((each) => isLate(each, false))];
    for (const waiting of late) giveUp(waiting, this.#failure ?? new Error('the store does not answer'));
  }

  #patienceWith({ type }: Operation): number {
    return type === 'settle' ? this.#patience.settleMs : this.#patience.holdMs;
  }

  #committed(batch: readonly Waiting[], results: readonly OperationResult[]): void {
    this.#inFlight = [];
    this.#failure = undefined;
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index];
      if (result === undefined) reject(unavailable(new Error('the store gave no answer')));
      else resolve(result);
    }
    if (this.#waiting.length > 0) this.#gather();
  }

  /** Whoever is about to ask in this turn of the event loop still gets into the next transaction. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    setImmediate(() => this.#resume());
  }

  /** What failed stands first in line for the next transaction. Of what is late the caller is told. */
  #failed(batch: readonly Waiting[], error: unknown): void {
    const nowMs = performance.now();
    this.#inFlight = [];
    this.#failure = error;
    if (!this.#store.isAlive && !this.#isClosed) this.#loss.resolve(error);
    const again: Waiting[] = [];
    for (const waiting of [...batch, ...this.#waiting]) {
      const isLate = nowMs - waiting.sinceMs >= this.#patienceWith(waiting.operation);
      if ((isLate || !this.#store.isAlive) && !waiting.isGivenUp) giveUp(waiting, error);
      if (this.#store.isAlive && (!waiting.isGivenUp || waiting.operation.type === 'settle')) again.push(waiting);
    }
    this.#waiting = again;
    if (again.length === 0) return;
    this.#isGathering = true;
    setTimeout(() => this.#resume(), this.#patience.retryMs);
  }

  #resume(): void {
    this.#isGathering = false;
    this.#flush();
  }
}

/**
 * The caller is told and waits no longer. A settlement does: a delivered answer must be charged, and the hold of one that
 * the caller does not get must be given back. So must a hold that may have been taken without our hearing of it.
 */
function giveUp(waiting: Waiting, error: unknown): void {
  waiting.isGivenUp = true;
  const { operation } = waiting;
  if (operation.type !== 'settle') waiting.reject(unavailable(error));
  else waiting.reject(unavailable(error, operation.settlement.isDelivered ? UNCONFIRMED : WITHHELD));
  if (operation.type === 'hold') waiting.operation = { type: 'settle', settlement: release(operation.hold) };
  if (operation.type === 'settle' && !operation.settlement.isDelivered)
    waiting.operation = { type: 'settle', settlement: { ...operation.settlement, ...NOTHING } };
}

const NOTHING = {
  usage: NO_TOKENS,
  cost: NO_MONEY,
  outcome: 'failed',
  errorCode: 'ledger_unavailable',
  finishReason: undefined,
  isEstimated: false,
} as const;

function release({ requestId, accountId, keyId, model, priceVersion, createdAtMs }: HoldRequest): Settlement {
  const subject = { requestId, accountId, keyId, model, priceVersion, createdAtMs };
  return {
    ...NOTHING,
    ...subject,
    provider: '',
    servedModel: '',
    isStreaming: false,
    firstTokenMs: undefined,
    durationMs: 0,
    attempts: 0,
    failedAttempts: [],
    isDelivered: true,
  };
}

function countOf(result: OperationResult): number {
  return result.type === 'done' ? result.count : 0;
}

const UNAVAILABLE = 'The ledger cannot be written just now, so nothing was charged. Try again shortly.';
const UNCONFIRMED =
  'The ledger cannot be written just now. The answer is complete but for this, and is charged as soon as the ledger is back.';
/** A store that was lost in the moment in which it wrote may have written it. */
const WITHHELD =
  'The ledger cannot be written just now, so the answer is not given. It is charged only if that was written before the ledger was lost; your usage tells.';

function unavailable(cause: unknown, message = UNAVAILABLE): GatewayError {
  return new GatewayError('ledger_unavailable', message, { cause, ...(message !== UNCONFIRMED && { retryAfterSeconds: 1 }) });
}
