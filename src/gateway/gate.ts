import type { KeyHolder } from '../accounts/keys.ts';
import type { Carried } from '../carried/carried.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { GatewayError } from '../errors.ts';
import type { HttpClient } from '../http/client.ts';
import type { HeldBytes } from '../http/held-bytes.ts';
import type { Reach } from '../http/fetch-media.ts';
import type { Incoming } from '../http/incoming.ts';
import type { OutgoingStream } from '../http/outgoing-stream.ts';
import type { Arrival } from '../http/server.ts';
import type { Attempt, Ledger } from '../ledger/ledger.ts';
import type { AccountPlaces } from '../limits/account-places.ts';
import type { Limits } from '../limits/limits.ts';
import type { MemoryWatch } from '../observe/memory-watch.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Contents } from '../usage/contents.ts';
import type { Refusals } from '../usage/refusals.ts';
import { holdBody, type Holder } from './body-memory.ts';
import type { KeyCache } from './key-cache.ts';
import type { Overruns } from './overruns.ts';
import type { RouteHealth } from './route-health.ts';

/** Everything that the steps of the request path share. */
export interface Gate {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly keys: KeyCache;
  readonly carried: Carried;
  /** Records prompts and answers for accounts that have recording turned on. */
  readonly contents: Contents;
  /** Records refused requests, for their accounts to look at. */
  readonly refusals: Refusals;
  readonly limits: Limits;
  readonly accountPlaces: AccountPlaces;
  /** Counts the bodies and replies in memory. */
  readonly held: HeldBytes;
  readonly memory: Pick<MemoryWatch, 'isShort'>;
  readonly ledger: Ledger;
  /** The current price version of each model. */
  readonly priceVersions: ReadonlyMap<string, number>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Sends requests to providers. */
  readonly client: HttpClient;
  /** Knows which routes are worth trying. */
  readonly routeHealth: RouteHealth;
  /** Knows whose media must not be trusted to stay within their bound. */
  readonly overruns: Overruns;
  /** The addresses that media given by URL may be fetched from. */
  readonly reach: Reach;
  /** The requests in progress. One clock watches them all: a timer and a listener per request would cost more. */
  readonly calls: Set<Call>;
}

/** A successful result of an operation, before it becomes an HTTP response. */
export interface Reply {
  readonly body: string | OutgoingStream;
  readonly headers: Record<string, string>;
}

/** How often the clock ticks: often enough to end a provider call within 100 ms of the client disconnecting. */
export const WATCH_INTERVAL_MS = 25;

/** Why a call ends early: the client disconnected, or the server is shutting down. */
export type CallEnd = typeof CLIENT_GONE | GatewayError;

/** The end reason of a call whose client disconnected. */
export const CLIENT_GONE = Symbol('client gone');

/** An operation in progress that can be ended early. */
export interface Abortable {
  abort(reason: unknown): void;
}

/** An operation with deadlines. `check` returns the error to abort it with, once, when a deadline has passed. */
export interface Timed {
  check(nowMs: number): GatewayError | undefined;
}

/** Watches an exchange with a provider: ends it when its answer is no longer wanted, or when it takes too long. */
export interface Watcher {
  beginAttempt(exchange: Abortable, deadlines: Timed): void;
}

/** Notes that a call has ended, and frees its place and its memory. Only the first time counts. */
export function closeCall({ calls, accountPlaces, held }: Pick<Gate, 'calls' | 'accountPlaces' | 'held'>, call: Call): void {
  if (!calls.delete(call)) return;
  if (call.accountId !== undefined) accountPlaces.free(call.accountId);
  holdBody(call, -call.heldBytes, held);
}

/** One request of a client, from its arrival to the end of its answer. */
export class Call implements Watcher, Holder {
  readonly id: string;
  readonly startedAtMs: number;
  /** True once the answer streams. The call then ends with the stream, not when its handler returns. */
  isStreaming = false;
  /** The key's holder and the parsed body, as far as they are known. Both are cleared once the request is accepted. */
  holder: KeyHolder | undefined;
  body: unknown;
  heldBytes = 0;
  /** The account whose place it takes. */
  accountId: string | undefined;
  /** How many gates the request has passed through before this one. */
  hops = 0;
  /** The failed attempts at providers, in order. */
  readonly failedAttempts: Attempt[] = [];
  /** Measured by the monotonic clock, which does not jump when the system time is set. */
  readonly #beganAtMs = performance.now();
  readonly #request: Pick<Incoming, 'signal'>;
  readonly #connection: Pick<Arrival, 'address'>;
  #endReason: CallEnd | undefined;
  #attempt: Abortable | undefined;
  #deadlines: Timed | undefined;
  #onTick: ((nowMs: number) => void) | undefined;

  constructor(id: string, startedAtMs: number, request: Pick<Incoming, 'signal'>, connection: Pick<Arrival, 'address'>) {
    this.id = id;
    this.startedAtMs = startedAtMs;
    this.#request = request;
    this.#connection = connection;
  }

  /** True when the client has disconnected, so no response can reach it. */
  get isClientGone(): boolean {
    return this.#endReason === CLIENT_GONE || this.#request.signal.aborted;
  }

  /** The time since the request arrived. */
  get durationMs(): number {
    return Math.round(performance.now() - this.#beganAtMs);
  }

  /** Returns the client's address. Call it only where the address matters: the runtime has to look it up. */
  address(): string {
    return this.#connection.address();
  }

  /** Marks the request as accepted: it has a hold, and from here on it leaves a usage record however it ends. */
  markAccepted(): void {
    this.holder = undefined;
    this.body = undefined;
  }

  /** Switches to streaming: from now on, `onTick` runs at each clock tick. */
  startStreaming(onTick: (nowMs: number) => void): void {
    this.isStreaming = true;
    this.#onTick = onTick;
  }

  /** Ends the call before its answer is finished, together with the provider call in progress. */
  end(reason: CallEnd): void {
    this.#endReason ??= reason;
    this.#attempt?.abort(reason);
  }

  /** Ends only the provider call in progress. The client still gets the end of its answer. */
  abortAttempt(reason: unknown): void {
    this.#attempt?.abort(reason);
  }

  /**
   * Registers a new attempt at a provider, or the work that precedes one. The attempt ends with the call. If the attempt alone ends,
   * for example by a timeout, the call goes on.
   */
  beginAttempt(attempt: Abortable, deadlines: Timed | undefined): void {
    this.#attempt = attempt;
    this.#deadlines = deadlines;
    if (this.#endReason !== undefined) attempt.abort(this.#endReason);
  }

  /** Runs at each clock tick. A streaming response notices by itself that its client left; for the others the signal is checked here. */
  watch(nowMs: number): void {
    const timeout = this.#deadlines?.check(nowMs);
    if (timeout !== undefined) this.#attempt?.abort(timeout);
    this.#onTick?.(nowMs);
    if (!this.isStreaming && this.#request.signal.aborted) this.end(CLIENT_GONE);
  }
}
