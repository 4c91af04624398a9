import type { KeyHolder } from '../accounts/keys.ts';
import type { Carried } from '../carried/carried.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config.ts';
import type { GatewayError } from '../errors.ts';
import type { HttpClient } from '../http/client.ts';
import type { Reach } from '../http/fetch-media.ts';
import { IDLE_SECONDS, type Connection } from '../http/server.ts';
import type { Attempt, Ledger } from '../ledger/ledger.ts';
import type { Limits } from '../limits/limits.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Contents } from '../usage/contents.ts';
import type { Refusals } from '../usage/refusals.ts';
import type { KeyCache } from './authenticate.ts';
import type { RouteHealth } from './route-health.ts';

/** Everything that the steps of a request work with. */
export interface Gate {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly keys: KeyCache;
  readonly carried: Carried;
  /** Takes what is asked and answered, of accounts that have it recorded. */
  readonly contents: Contents;
  /** Takes what was refused, for the accounts to look at. */
  readonly refusals: Refusals;
  readonly limits: Limits;
  readonly ledger: Ledger;
  /** The version of each model's prices that is in force. */
  readonly priceVersions: ReadonlyMap<string, number>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The way to the providers. */
  readonly client: HttpClient;
  /** Which ways to them are worth a try. */
  readonly routeHealth: RouteHealth;
  /** Where media that callers name by address may be fetched from. */
  readonly reach: Reach;
  /** The requests under way. One clock watches them all: a timer and a listener for each would cost more than they do. */
  readonly calls: Set<Call>;
}

/** A successful answer of an operation, before it becomes an HTTP response. */
export interface Reply {
  readonly body: string | ReadableStream<Uint8Array>;
  readonly headers: Record<string, string>;
}

/** How often the clock looks: fine enough to end a provider call within 100 ms of the caller's leaving. */
export const WATCH_INTERVAL_MS = 25;
/** A silent connection is kept open by hand, as often as this; most answers never get here. */
const KEEP_OPEN_MS = 30_000;

/** Why a call ends early: the caller has left, or the server must. */
export type CallEnd = typeof CLIENT_GONE | GatewayError;

export const CLIENT_GONE = Symbol('client gone');

/** Something under way that can be ended early. */
export interface Abortable {
  abort(reason: unknown): void;
}

/** Something that must not take too long: gives the reason to end it, the first time that there is one. */
export interface Timed {
  check(nowMs: number): GatewayError | undefined;
}

/** Looks after an exchange with a provider: ends it when nobody wants it any more, or when it takes too long. */
export interface Watcher {
  beginAttempt(exchange: Abortable, deadlines: Timed): void;
}

/** What a call knows and does about the caller's connection. */
type CallerConnection = Pick<Connection, 'setIdleTimeout' | 'address'>;

/** One request of a caller, from its arrival to the end of its answer. */
export class Call implements Watcher {
  readonly id: string;
  readonly startedAtMs: number;
  /** True once the answer streams: then the end of the stream is the end of the call, not the return of its handler. */
  isStreaming = false;
  /** Whose key it was made with, and what was asked, as far as it came; neither once it is let in. */
  holder: KeyHolder | undefined;
  body: unknown;
  /** How long the body of the request is, as far as that is known, with the media that was fetched for it. */
  bodyBytes = 0;
  /** Through how many gates it has come before. */
  hops = 0;
  /** The providers that were asked and failed, in their order. */
  readonly failedAttempts: Attempt[] = [];
  /** By the monotonic clock, which nobody can set meanwhile. */
  readonly #beganAtMs = performance.now();
  readonly #request: Request;
  readonly #connection: CallerConnection;
  #keptOpenAtMs = this.#beganAtMs;
  #endReason: CallEnd | undefined;
  #underWay: Abortable | undefined;
  #deadlines: Timed | undefined;
  #onTick: ((nowMs: number) => void) | undefined;

  constructor(id: string, startedAtMs: number, request: Request, connection: CallerConnection) {
    this.id = id;
    this.startedAtMs = startedAtMs;
    this.#request = request;
    this.#connection = connection;
  }

  /** True when the caller has left: nobody is there to be told anything. */
  get isClientGone(): boolean {
    return this.#endReason === CLIENT_GONE || this.#request.signal.aborted;
  }

  /** How long it has taken so far. */
  get durationMs(): number {
    return Math.round(performance.now() - this.#beganAtMs);
  }

  /** Where the caller is. Asked for only where it matters: the runtime has to look it up. */
  address(): string {
    return this.#connection.address();
  }

  /** There is a hold for it: from here on it leaves a record of its own, however it ends. */
  letIn(): void {
    this.holder = undefined;
    this.body = undefined;
  }

  /** The answer begins to stream: a connection that takes nothing for this long is closed, and the stream hears the clock. */
  startStreaming(idleSeconds: number, onTick: (nowMs: number) => void): void {
    this.isStreaming = true;
    this.#connection.setIdleTimeout(idleSeconds);
    this.#onTick = onTick;
  }

  /** Ends the call before its answer does, and with it the provider call that is under way. */
  end(reason: CallEnd): void {
    this.#endReason ??= reason;
    this.#underWay?.abort(reason);
  }

  /** Ends the provider call that is under way, and not the call: the caller still gets the end of its answer. */
  abortAttempt(reason: unknown): void {
    this.#underWay?.abort(reason);
  }

  /** A new try at a provider, or what comes before it. It ends with the call, but its own end, by a time-out for one, does not end the call. */
  beginAttempt(underWay: Abortable, deadlines: Timed | undefined): void {
    this.#underWay = underWay;
    this.#deadlines = deadlines;
    if (this.#endReason !== undefined) underWay.abort(this.#endReason);
  }

  /** A tick of the clock. A stream hears by itself that its caller left; for a caller who still waits it is looked up here. */
  watch(nowMs: number): void {
    const lateness = this.#deadlines?.check(nowMs);
    if (lateness !== undefined) this.#underWay?.abort(lateness);
    this.#onTick?.(nowMs);
    if (this.isStreaming) return;
    if (this.#request.signal.aborted) this.end(CLIENT_GONE);
    // A provider may think for minutes before its first byte, longer than the runtime keeps a silent connection.
    if (nowMs - this.#keptOpenAtMs < KEEP_OPEN_MS) return;
    this.#keptOpenAtMs = nowMs;
    // Not without a limit: the time-out stays with the connection after the answer, and a caller may vanish without closing it.
    this.#connection.setIdleTimeout(IDLE_SECONDS);
  }
}
