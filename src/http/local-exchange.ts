import { type ByteSource, type ConnectWatcher, Exchange } from './exchange.ts';

/** Runs an exchange with a responder in this process, without the network. */
export function exchangeLocally(respond: (signal: AbortSignal) => Promise<Response>, watcher?: ConnectWatcher): Exchange {
  const exchange = new Exchange(watcher);
  const source = new LocalSource();
  exchange.attach(source);
  exchange.onConnected();
  void source.run(respond, exchange);
  return exchange;
}

class LocalSource implements ByteSource {
  readonly #abort = new AbortController();
  #isPaused = false;
  #wake: () => void = () => undefined;

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  cancel(): void {
    this.#abort.abort();
    this.resume();
  }

  async run(respond: (signal: AbortSignal) => Promise<Response>, exchange: Exchange): Promise<void> {
    try {
      const { status, headers, body } = await respond(this.#abort.signal);
      exchange.onHead({ status, headers: new Map(headers) });
      for await (const bytes of (body ?? []) as AsyncIterable<Uint8Array>) {
        exchange.onBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
        if (this.#isPaused) await new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.#abort.signal.aborted) return;
      }
      exchange.onEnd();
    } catch (error) {
      exchange.onFailure(error);
    }
  }
}
