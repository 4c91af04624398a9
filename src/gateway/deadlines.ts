import { connect } from 'node:net';
import type { Timeouts } from '../config.ts';
import { GatewayError } from '../errors.ts';

/** Ends a provider call that takes too long, in whichever phase it is. */
export class Deadlines {
  readonly #abort: AbortController;
  readonly #timeouts: Timeouts;
  readonly #total: Timer;
  #phase: Timer;
  #connecting: (() => void) | undefined;

  constructor(abort: AbortController, timeouts: Timeouts, firstByteMs: number) {
    this.#abort = abort;
    this.#timeouts = timeouts;
    this.#total = this.#after(timeouts.totalMs, 'did not finish');
    this.#phase = this.#after(firstByteMs, 'did not begin to answer');
  }

  /** Watches the connection to this address until `connected`. */
  connecting(url: string): void {
    this.#connecting = watchConnection(url, this.#timeouts.connectMs, () =>
      this.#abort.abort(
        new GatewayError('provider_unavailable', `The provider could not be reached within ${this.#timeouts.connectMs / 1000} seconds.`, {
          retryAfterSeconds: 1,
        }),
      ),
    );
  }

  /** The provider has begun to answer: from here on it may pause, but not for long. */
  started(): void {
    this.#connecting?.();
    clearTimeout(this.#phase);
    this.#phase = this.#after(this.#timeouts.idleMs, 'fell silent');
  }

  /** Something arrived. */
  touch(): void {
    this.#phase.refresh();
  }

  stop(): void {
    this.#connecting?.();
    clearTimeout(this.#phase);
    clearTimeout(this.#total);
  }

  #after(ms: number, what: string): Timer {
    return setTimeout(
      () => this.#abort.abort(new GatewayError('provider_timeout', `The provider ${what} within ${ms / 1000} seconds.`)),
      ms,
    );
  }
}

type Timer = ReturnType<typeof setTimeout>;

/**
 * `fetch` cannot tell whether it is connected or only waits for an answer. So when there is no answer after half of the
 * allowed time, which is rare, a second connection to the same place is tried: if that fails too, nobody is there.
 */
function watchConnection(url: string, connectMs: number, onDead: () => void): () => void {
  let stop = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    const { hostname, port, protocol } = new URL(url);
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) });
    const dead = setTimeout(onDead, connectMs / 2);
    stop = () => {
      clearTimeout(dead);
      socket.destroy();
    };
    socket.once('connect', () => stop());
    // A refused connection is an answer too: `fetch` reports it in its own words.
    socket.once('error', () => stop());
  }, connectMs / 2);
  return () => stop();
}
