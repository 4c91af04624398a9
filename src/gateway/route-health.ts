import type { Route } from '../catalog/catalog.ts';
import type { ErrorName, GatewayError } from '../errors.ts';

/** So many failures without an answer between them, or this share of enough tries within a moment, and a route is left out. */
const FAILURES_IN_A_ROW = 5;
const TRIES_MIN = 20;
const FAILED_SHARE = 0.5;
const WINDOW_MS = 10_000;
/** For how long at first; twice as long each time that it still fails. */
const PAUSE_MS = 10_000;
const PAUSE_MS_MAX = 300_000;

/** What is the provider's fault, and would be the next request's too. A request that it calls wrong says nothing about it. */
const FAILURES: ReadonlySet<ErrorName> = new Set(['provider_error', 'provider_unavailable', 'provider_timeout', 'provider_misconfigured']);

/** A route that has failed lately. */
interface Ailing {
  readonly route: Route;
  failedInARow: number;
  windowBeganAtMs: number;
  tries: number;
  failures: number;
  /** Until when it is left out; in the past for one that is in. */
  outUntilMs: number;
  /** How long it is left out for its failures; zero while it is not. */
  pauseMs: number;
  /** One request is finding out whether it answers again. */
  isTried: boolean;
}

/** Hears which routes are left out, and that they are back. */
export interface RouteEvents {
  onOut(route: Route, pauseMs: number): void;
  onBack(route: Route): void;
}

/**
 * Which routes are worth a try. One that fails again and again is left out for a while, so that callers do not wait for it
 * before the next one answers; then one request finds out. One that is asked too much rests for as long as it says.
 */
export class RouteHealth {
  readonly #events: RouteEvents;
  readonly #now: () => number;
  /** Only routes that have failed lately are in it: while nothing fails, it is empty and costs nothing. */
  readonly #ailing = new Map<string, Ailing>();

  constructor(events: RouteEvents, now: () => number = () => performance.now()) {
    this.#events = events;
    this.#now = now;
  }

  /** Whether to try it. When its pause is over, one request may; the others wait for what that finds. */
  mayTry(route: Route): boolean {
    if (this.#ailing.size === 0) return true;
    const ailing = this.#ailing.get(nameOf(route));
    if (ailing === undefined) return true;
    if (ailing.outUntilMs > this.#now() || ailing.isTried) return false;
    ailing.isTried = ailing.pauseMs > 0;
    return true;
  }

  answered(route: Route): void {
    if (this.#ailing.size === 0) return;
    const ailing = this.#ailing.get(nameOf(route));
    if (ailing === undefined) return;
    this.#count(ailing);
    ailing.failedInARow = 0;
    const isBack = ailing.pauseMs > 0;
    const isWell = ailing.failures === 0 && ailing.outUntilMs <= this.#now();
    if (isBack || isWell) this.#ailing.delete(nameOf(route));
    if (isBack) this.#events.onBack(route);
  }

  failed(route: Route, error: GatewayError): void {
    if (error.errorName === 'provider_rate_limited') return this.#rest(route, error.details.retryAfterSeconds ?? 0);
    if (!FAILURES.has(error.errorName)) return this.unknown(route);
    const ailing = this.#find(route);
    this.#count(ailing);
    ailing.failedInARow += 1;
    ailing.failures += 1;
    const isStillOut = ailing.pauseMs > 0;
    if (isStillOut ? ailing.isTried : hasFailedTooOften(ailing)) this.#leaveOut(ailing);
  }

  /** The try has shown nothing: its caller left, or the request was wrong. */
  unknown(route: Route): void {
    const ailing = this.#ailing.get(nameOf(route));
    if (ailing !== undefined) ailing.isTried = false;
  }

  /** The routes that are left out now. */
  listOut(): Route[] {
    return [...this.#ailing.values()]
      .filter(({ outUntilMs, pauseMs }) => pauseMs > 0 || outUntilMs > this.#now())
      .map(({ route }) => route);
  }

  #find(route: Route): Ailing {
    const known = this.#ailing.get(nameOf(route));
    if (known !== undefined) return known;
    const nowMs = this.#now();
    const begun = { route, failedInARow: 0, windowBeganAtMs: nowMs, tries: 0, failures: 0, outUntilMs: nowMs, pauseMs: 0, isTried: false };
    this.#ailing.set(nameOf(route), begun);
    return begun;
  }

  /** Counts a try, in a new window where the last is over. */
  #count(ailing: Ailing): void {
    if (this.#now() - ailing.windowBeganAtMs >= WINDOW_MS) {
      ailing.windowBeganAtMs = this.#now();
      ailing.tries = ailing.failures = 0;
    }
    ailing.tries += 1;
  }

  #leaveOut(ailing: Ailing): void {
    ailing.pauseMs = ailing.pauseMs === 0 ? PAUSE_MS : Math.min(2 * ailing.pauseMs, PAUSE_MS_MAX);
    ailing.outUntilMs = this.#now() + ailing.pauseMs;
    ailing.isTried = false;
    this.#events.onOut(ailing.route, ailing.pauseMs);
  }

  #rest(route: Route, seconds: number): void {
    const ailing = this.#find(route);
    ailing.outUntilMs = Math.max(ailing.outUntilMs, this.#now() + Math.min(seconds * 1000, PAUSE_MS_MAX));
    ailing.isTried = false;
  }
}

function hasFailedTooOften({ failedInARow, tries, failures }: Ailing): boolean {
  return failedInARow >= FAILURES_IN_A_ROW || (tries >= TRIES_MIN && failures >= FAILED_SHARE * tries);
}

function nameOf({ provider, model }: Route): string {
  return `${provider} ${model}`;
}
