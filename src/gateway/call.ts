import type { KeyHolder } from '../accounts/keys.ts';
import type { GatewayError } from '../errors.ts';
import type { Incoming } from '../http/incoming.ts';
import type { Arrival } from '../http/server.ts';
import type { Attempt } from '../ledger/ledger.ts';
import type { ChatRequest } from '../openai/types.ts';
import type { BytesHolder } from './body-memory.ts';

/** How often the clock ticks: often enough to end an exchange within 100 ms of the client disconnecting. */
export const TICK_MS = 25;

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
  watch(exchange: Abortable, deadlines: Timed): void;
}

/** One request of a client, from its arrival to the end of its answer. */
export class Call implements Watcher, BytesHolder {
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
  /** The request with the media fetched for it so far, and why a fetch failed. Undefined while none was needed. */
  media: { readonly chat: ChatRequest; readonly failure?: GatewayError } | undefined;
  /** The failed attempts at providers, in order. */
  readonly failedAttempts: Attempt[] = [];
  /** Measured by the monotonic clock, which does not jump when the system time is set. */
  readonly #beganAtMs = performance.now();
  readonly #request: Pick<Incoming, 'signal'>;
  readonly #arrival: Pick<Arrival, 'address'>;
  #endReason: CallEnd | undefined;
  /** The exchange in progress, or the work before it. */
  #exchange: Abortable | undefined;
  #deadlines: Timed | undefined;
  #onTick: ((nowMs: number) => void) | undefined;

  constructor(id: string, startedAtMs: number, request: Pick<Incoming, 'signal'>, arrival: Pick<Arrival, 'address'>) {
    this.id = id;
    this.startedAtMs = startedAtMs;
    this.#request = request;
    this.#arrival = arrival;
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
    return this.#arrival.address();
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

  /** Ends the call before its answer is finished, together with the exchange in progress. */
  end(reason: CallEnd): void {
    this.#endReason ??= reason;
    this.#exchange?.abort(reason);
  }

  /** Ends only the exchange in progress. The client still gets the end of its answer. */
  abortExchange(reason: unknown): void {
    this.#exchange?.abort(reason);
  }

  /**
   * Watches a new exchange with a provider, or the work that precedes one, such as fetching media. The exchange ends with the call. If
   * the exchange alone ends, for example by a timeout, the call goes on.
   */
  watch(exchange: Abortable, deadlines: Timed | undefined): void {
    this.#exchange = exchange;
    this.#deadlines = deadlines;
    if (this.#endReason !== undefined) exchange.abort(this.#endReason);
  }

  /** Runs at each clock tick. A streaming response notices by itself that its client left; for the others the signal is checked here. */
  tick(nowMs: number): void {
    const timeout = this.#deadlines?.check(nowMs);
    if (timeout !== undefined) this.#exchange?.abort(timeout);
    this.#onTick?.(nowMs);
    if (!this.isStreaming && this.#request.signal.aborted) this.end(CLIENT_GONE);
  }
}
