import type { Timeouts } from '../config.ts';
import { GatewayError } from '../errors.ts';

/** What the provider must do within which time; `what` is how its failure reads. */
export interface Phase {
  readonly what: string;
  readonly ms: number;
}

/** Knows when a provider call takes too long, in whichever phase it is. */
export class Deadlines {
  readonly #timeouts: Timeouts;
  readonly #endsAtMs: number;
  #connectEndsAtMs: number;
  #phase: Phase;
  #phaseEndsAtMs: number;
  #hasArrived = false;
  #isOver = false;

  /** The call begins now, and with it the time to connect; `endsAtMs` is given where it shares its time with others. */
  constructor(timeouts: Timeouts, phase: Phase, endsAtMs?: number) {
    const nowMs = performance.now();
    this.#timeouts = timeouts;
    this.#endsAtMs = endsAtMs ?? nowMs + timeouts.totalMs;
    this.#connectEndsAtMs = nowMs + timeouts.connectMs;
    this.#phase = phase;
    this.#phaseEndsAtMs = nowMs + phase.ms;
  }

  /** What is needed to ask the provider is not there yet: only the total time runs. */
  waiting(): void {
    this.#connectEndsAtMs = this.#phaseEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** It is there, and the time of the provider begins. */
  begin(): void {
    const nowMs = performance.now();
    this.#connectEndsAtMs = nowMs + this.#timeouts.connectMs;
    this.#phaseEndsAtMs = nowMs + this.#phase.ms;
  }

  /** The provider is there: the request goes out. */
  connected(): void {
    this.#connectEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** The provider has begun to answer: from here on it may pause, but not for long. */
  started(): void {
    this.#phase = { what: 'was silent for', ms: this.#timeouts.idleMs };
  }

  /** Something of a stream arrived. The next tick of the clock notes the time, which is exact enough and costs nothing per packet. */
  arrived(): void {
    this.#hasArrived = true;
  }

  /** We do not wait, because the caller is slow to read: the provider is not to blame. */
  resting(): void {
    this.#hasArrived = false;
    this.#phaseEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** The call is over, one way or the other. */
  stop(): void {
    this.#isOver = true;
  }

  /** The reason to end the call, the first time that there is one. The clock is `performance.now()`. */
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
