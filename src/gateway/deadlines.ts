import type { Timeouts } from '../config.ts';
import { GatewayError } from '../errors.ts';

/** A step that the provider must finish in time. `what` is the wording of its failure. */
export interface Phase {
  readonly what: string;
  readonly ms: number;
}

/** Tracks the deadlines of one exchange through its phases. */
export class Deadlines {
  readonly #timeouts: Timeouts;
  readonly #endsAtMs: number;
  #connectEndsAtMs: number;
  #phase: Phase;
  #phaseEndsAtMs: number;
  #hasArrived = false;
  #isOver = false;

  /** Starts the exchange and its time to connect. `endsAtMs` is given when it shares its total time with others. */
  constructor(timeouts: Timeouts, phase: Phase, endsAtMs?: number) {
    const nowMs = performance.now();
    this.#timeouts = timeouts;
    this.#endsAtMs = endsAtMs ?? nowMs + timeouts.totalMs;
    this.#connectEndsAtMs = nowMs + timeouts.connectMs;
    this.#phase = phase;
    this.#phaseEndsAtMs = nowMs + phase.ms;
  }

  /** Stops the provider's deadlines while its credentials are being fetched. Only the total time runs. */
  suspend(): void {
    this.#connectEndsAtMs = this.#phaseEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** Starts the provider's deadlines after such a wait. */
  restart(): void {
    const nowMs = performance.now();
    this.#connectEndsAtMs = nowMs + this.#timeouts.connectMs;
    this.#phaseEndsAtMs = nowMs + this.#phase.ms;
  }

  /** Ends the time to connect: the provider is reached and the request goes out. */
  connected(): void {
    this.#connectEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** Switches to the idle timeout: the provider has begun to answer and may pause, but not for long. */
  started(): void {
    this.#phase = { what: 'was silent for', ms: this.#timeouts.idleMs };
  }

  /** Notes that part of a stream arrived. The next clock tick reads the time, which is precise enough and costs nothing per packet. */
  arrived(): void {
    this.#hasArrived = true;
  }

  /** Suspends the idle timeout while the client is slow to read: the provider is not to blame. */
  paused(): void {
    this.#hasArrived = false;
    this.#phaseEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** Ends the tracking: the exchange is over, one way or the other. */
  stop(): void {
    this.#isOver = true;
  }

  /** Returns the error of the first deadline that has passed, once. `nowMs` is `performance.now()`. */
  check(nowMs: number): GatewayError | undefined {
    if (this.#isOver) return undefined;
    if (this.#hasArrived) {
      this.#hasArrived = false;
      this.#phaseEndsAtMs = nowMs + this.#phase.ms;
    }
    const { connectMs, totalMs } = this.#timeouts;
    if (nowMs >= this.#connectEndsAtMs) return this.#end('provider_unavailable', `could not be reached within ${connectMs / 1000} seconds`);
    if (nowMs >= this.#phaseEndsAtMs) return this.#end('provider_timeout', `${this.#phase.what} ${this.#phase.ms / 1000} seconds`);
    if (nowMs >= this.#endsAtMs) return this.#end('provider_timeout', `did not finish within ${totalMs / 1000} seconds`);
    return undefined;
  }

  #end(name: 'provider_timeout' | 'provider_unavailable', what: string): GatewayError {
    this.stop();
    return new GatewayError(name, `The provider ${what}.`, { retryAfterSeconds: 1 });
  }
}
