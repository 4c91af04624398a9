import { connect } from 'node:net';
import type { Timeouts } from '../config.ts';
import { GatewayError } from '../errors.ts';

/** What the provider must do within which time; `what` is how its failure reads. */
export interface Phase {
  readonly what: string;
  readonly ms: number;
}

/** Ends a provider call that takes too long, in whichever phase it is. */
export class Deadlines {
  readonly #abort: AbortController;
  readonly #timeouts: Timeouts;
  readonly #endsAtMs: number;
  #phase: Phase;
  #phaseEndsAtMs: number;
  #probe: ConnectionProbe | undefined;
  #isOver = false;

  constructor(abort: AbortController, timeouts: Timeouts, phase: Phase) {
    const nowMs = performance.now();
    this.#abort = abort;
    this.#timeouts = timeouts;
    this.#endsAtMs = nowMs + timeouts.totalMs;
    this.#phase = phase;
    this.#phaseEndsAtMs = nowMs + phase.ms;
  }

  /** Watches the connection to this address until something arrives. */
  connecting(url: string): void {
    this.#probe = new ConnectionProbe(url, this.#timeouts.connectMs);
  }

  /** The provider has begun to answer: from here on it may pause, but not for long. */
  started(): void {
    this.#phase = { what: 'was silent for', ms: this.#timeouts.idleMs };
  }

  /** We wait for more. While we do not, because the caller is slow to read, the provider is not to blame. */
  waiting(): void {
    this.#phaseEndsAtMs = performance.now() + this.#phase.ms;
  }

  /** The provider has answered, so it is there. */
  connected(): void {
    this.#probe?.answered();
    this.#probe = undefined;
  }

  /** Something of a stream arrived. */
  arrived(): void {
    this.#phaseEndsAtMs = Number.POSITIVE_INFINITY;
  }

  /** The call is over, one way or the other. */
  stop(): void {
    this.#isOver = true;
    this.#probe?.stop();
  }

  /** Looks at the clock, which is `performance.now()`. */
  check(nowMs: number): void {
    if (this.#isOver) return;
    const { connectMs, totalMs } = this.#timeouts;
    if (this.#probe?.isDead(nowMs) === true) this.#end('provider_unavailable', `could not be reached within ${connectMs / 1000} seconds`);
    else if (nowMs >= this.#phaseEndsAtMs) this.#end('provider_timeout', `${this.#phase.what} ${this.#phase.ms / 1000} seconds`);
    else if (nowMs >= this.#endsAtMs) this.#end('provider_timeout', `did not finish within ${totalMs / 1000} seconds`);
  }

  #end(name: 'provider_timeout' | 'provider_unavailable', what: string): void {
    this.stop();
    this.#abort.abort(new GatewayError(name, `The provider ${what}.`, { retryAfterSeconds: 1 }));
  }
}

/**
 * `fetch` cannot tell whether it is connected or only waits for an answer. So when nothing has come after half of the
 * allowed time, from a place that answered nobody else meanwhile, a second connection to it is tried: if that fails
 * too, nobody is there.
 */
class ConnectionProbe {
  /** When each address last answered; as many entries as there are providers. */
  static readonly #answeredAtMs = new Map<string, number>();
  readonly #url: string;
  readonly #beganAtMs: number;
  readonly #startsAtMs: number;
  readonly #endsAtMs: number;
  #socket: ReturnType<typeof connect> | undefined;
  #isAnswered = false;

  constructor(url: string, connectMs: number) {
    this.#url = url;
    this.#beganAtMs = performance.now();
    this.#startsAtMs = this.#beganAtMs + connectMs / 2;
    this.#endsAtMs = this.#beganAtMs + connectMs;
  }

  isDead(nowMs: number): boolean {
    if (this.#socket === undefined && nowMs >= this.#startsAtMs && !this.#isAnswered) this.#start();
    return nowMs >= this.#endsAtMs && !this.#isAnswered;
  }

  answered(): void {
    ConnectionProbe.#answeredAtMs.set(this.#url, performance.now());
    this.stop();
  }

  stop(): void {
    this.#isAnswered = true;
    this.#socket?.destroy();
  }

  #start(): void {
    this.#isAnswered = (ConnectionProbe.#answeredAtMs.get(this.#url) ?? Number.NEGATIVE_INFINITY) >= this.#beganAtMs;
    if (this.#isAnswered) return;
    const { hostname, port, protocol } = new URL(this.#url);
    const defaultPort = protocol === 'https:' ? 443 : 80;
    this.#socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) });
    // A refused connection is an answer too: `fetch` reports it in its own words.
    for (const event of ['connect', 'error']) this.#socket.once(event, () => this.stop());
  }
}
