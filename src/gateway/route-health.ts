import type { Route } from '../catalog/catalog.ts';
import type { ErrorName, GatewayError } from '../errors.ts';

/** A route is paused after this many failures in a row, or when this share of at least `TRIES_MIN` tries in one window has failed. */
const FAILURES_IN_A_ROW = 5;
const TRIES_MIN = 20;
const FAILED_SHARE = 0.5;
const WINDOW_MS = 10_000;
/** The first pause. It doubles each time the route still fails. */
const PAUSE_MS = 10_000;
const PAUSE_MS_MAX = 300_000;

/** Errors that are the provider's fault and would hit the next request too. A request that the provider refuses says nothing about health. */
const FAILURES: ReadonlySet<ErrorName> = new Set(['provider_error', 'provider_unavailable', 'provider_timeout', 'provider_misconfigured']);

/** A route that has failed recently. */
interface FailingRoute {
  readonly route: Route;
  failedInARow: number;
  windowBeganAtMs: number;
  tries: number;
  failures: number;
  /** When the pause ends; in the past for a route that is not paused. */
  pausedUntilMs: number;
  /** The length of the current pause for failures; zero for a route that is not paused for them. */
  pauseMs: number;
  /** True while one request probes whether the route answers again. */
  isProbed: boolean;
}

/** Receives the start and end of pauses. */
export interface RouteEvents {
  onPause(route: Route, pauseMs: number): void;
  onResume(route: Route): void;
}

/**
 * Knows which routes are worth trying. A route that keeps failing is paused for a while, so that clients do not wait for it before the
 * next route answers. Then one request probes it. A route that is rate-limited rests for as long as the provider asks.
 */
export class RouteHealth {
  readonly #events: RouteEvents;
  readonly #now: () => number;
  /** Holds only routes that have failed recently: while nothing fails, it is empty and costs nothing. */
  readonly #failing = new Map<string, FailingRoute>();

  constructor(events: RouteEvents, now: () => number = () => performance.now()) {
    this.#events = events;
    this.#now = now;
  }

  /** Whether to try the route. After a pause, one request probes it and the others stay away until the result is known. */
  mayTry(route: Route): boolean {
    if (this.#failing.size === 0) return true;
    const failing = this.#failing.get(nameOf(route));
    if (failing === undefined) return true;
    if (failing.pausedUntilMs > this.#now() || failing.isProbed) return false;
    failing.isProbed = failing.pauseMs > 0;
    return true;
  }

  answered(route: Route): void {
    if (this.#failing.size === 0) return;
    const failing = this.#failing.get(nameOf(route));
    if (failing === undefined) return;
    this.#count(failing);
    failing.failedInARow = 0;
    const wasPaused = failing.pauseMs > 0;
    const isWell = failing.failures === 0 && failing.pausedUntilMs <= this.#now();
    if (wasPaused || isWell) this.#failing.delete(nameOf(route));
    if (wasPaused) this.#events.onResume(route);
  }

  failed(route: Route, error: GatewayError): void {
    if (error.errorName === 'provider_rate_limited') return this.#pauseFor(route, error.details.retryAfterSeconds ?? 0);
    if (!FAILURES.has(error.errorName)) return this.inconclusive(route);
    const failing = this.#findOrAdd(route);
    this.#count(failing);
    failing.failedInARow += 1;
    failing.failures += 1;
    const isPaused = failing.pauseMs > 0;
    if (isPaused ? failing.isProbed : hasFailedTooOften(failing)) this.#pause(failing);
  }

  /** Notes a try that proved nothing: the client left, or the request was wrong. */
  inconclusive(route: Route): void {
    const failing = this.#failing.get(nameOf(route));
    if (failing !== undefined) failing.isProbed = false;
  }

  /** Returns the routes that are paused. */
  listPaused(): Route[] {
    return [...this.#failing.values()]
      .filter(({ pausedUntilMs, pauseMs }) => pauseMs > 0 || pausedUntilMs > this.#now())
      .map(({ route }) => route);
  }

  #findOrAdd(route: Route): FailingRoute {
    const known = this.#failing.get(nameOf(route));
    if (known !== undefined) return known;
    const nowMs = this.#now();
    const added = {
      route,
      failedInARow: 0,
      windowBeganAtMs: nowMs,
      tries: 0,
      failures: 0,
      pausedUntilMs: nowMs,
      pauseMs: 0,
      isProbed: false,
    };
    this.#failing.set(nameOf(route), added);
    return added;
  }

  /** Counts a try, and starts a new window when the last one is over. */
  #count(failing: FailingRoute): void {
    if (this.#now() - failing.windowBeganAtMs >= WINDOW_MS) {
      failing.windowBeganAtMs = this.#now();
      failing.tries = failing.failures = 0;
    }
    failing.tries += 1;
  }

  #pause(failing: FailingRoute): void {
    failing.pauseMs = failing.pauseMs === 0 ? PAUSE_MS : Math.min(2 * failing.pauseMs, PAUSE_MS_MAX);
    failing.pausedUntilMs = this.#now() + failing.pauseMs;
    failing.isProbed = false;
    this.#events.onPause(failing.route, failing.pauseMs);
  }

  #pauseFor(route: Route, seconds: number): void {
    const failing = this.#findOrAdd(route);
    failing.pausedUntilMs = Math.max(failing.pausedUntilMs, this.#now() + Math.min(seconds * 1000, PAUSE_MS_MAX));
    failing.isProbed = false;
  }
}

function hasFailedTooOften({ failedInARow, tries, failures }: FailingRoute): boolean {
  return failedInARow >= FAILURES_IN_A_ROW || (tries >= TRIES_MIN && failures >= FAILED_SHARE * tries);
}

function nameOf({ provider, model }: Route): string {
  return `${provider} ${model}`;
}
