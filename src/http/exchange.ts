import type { ResponseEvents, ResponseHead } from './response-parser.ts';

/** The source of a response's bytes. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Ends the transfer at once. No event follows. */
  cancel(): void;
}

/** Is told when a request goes out. Before that, there may be no server on the other side. */
export interface ConnectWatcher {
  connected(): void;
}

/** Receives a body as it arrives: pieces, each a part of a packet, then either one end or one failure. */
export interface BodyListener {
  onBody(bytes: Buffer, start: number, end: number): void;
  onEnd(): void;
  onFailure(failure: unknown): void;
}

/** How much of a body is buffered before there is a listener. */
const EARLY_BYTES_MAX = 256 * 1024;
const decoder = new TextDecoder();
const doNothing = (): void => undefined;

/** One request in progress and the response to it, wherever its bytes come from. */
export class Exchange implements ResponseEvents {
  /** The head of the response, once it has arrived. */
  arrivedHead: ResponseHead | undefined;
  readonly #watcher: ConnectWatcher | undefined;
  readonly #head = Promise.withResolvers<ResponseHead>();
  #source: ByteSource | undefined;
  #listener: BodyListener | undefined;
  /** What has arrived before there is a listener. */
  #early: Buffer[] | undefined;
  #earlyBytes = 0;
  #isPaused = false;
  #state: 'open' | 'ended' | 'failed' = 'open';
  #failure: unknown;

  constructor(watcher?: ConnectWatcher) {
    this.#watcher = watcher;
  }

  /** The head of the response. Rejects when the exchange fails before there is one. */
  get head(): Promise<ResponseHead> {
    return this.#head.promise;
  }

  /** True when nothing more will arrive. */
  get isOver(): boolean {
    return this.#state !== 'open';
  }

  /** Returns the body if all of it has arrived and nobody has read it, which is so for most short answers once their head is known. */
  takeArrived(): Buffer | undefined {
    const early = this.#early;
    if (this.#state !== 'ended' || early === undefined) return undefined;
    this.#early = undefined;
    const [first] = early;
    return first !== undefined && early.length === 1 ? first : Buffer.concat(early);
  }

  /**
   * Returns the body as text; undefined when it has more than `bytesMax` bytes. `onBytes` receives the number of bytes as they arrive. If it
   * throws, the exchange ends with that error.
   */
  text(bytesMax: number, onBytes: (count: number) => void = doNothing): Promise<string | undefined> {
    return new Promise((resolve, reject) => this.listen(new TextGatherer(this, { bytesMax, onBytes }, { resolve, reject })));
  }

  /** Passes everything that has arrived, and everything that follows, to the listener. */
  listen(listener: BodyListener): void {
    this.#listener = listener;
    const early = this.#early;
    this.#early = undefined;
    for (const bytes of early ?? []) listener.onBody(bytes, 0, bytes.length);
    if (this.#state === 'ended') listener.onEnd();
    else if (this.#state === 'failed') listener.onFailure(this.#failure);
    else this.resume();
  }

  /** Stops reading, so that the sender has to wait. */
  pause(): void {
    if (this.#isPaused || this.isOver) return;
    this.#isPaused = true;
    this.#source?.pause();
  }

  resume(): void {
    if (!this.#isPaused || this.isOver) return;
    this.#isPaused = false;
    this.#source?.resume();
  }

  /** Ends the exchange early, for this reason. */
  abort(reason: unknown): void {
    if (this.isOver) return;
    this.#source?.cancel();
    this.onFailure(reason);
  }

  /** Sets the source that the response will come from. */
  attach(source: ByteSource): void {
    this.#source = source;
  }

  /** Reports that the request goes out. */
  onConnected(): void {
    this.#watcher?.connected();
  }

  onHead(head: ResponseHead): void {
    this.arrivedHead = head;
    this.#head.resolve(head);
  }

  onBody(bytes: Buffer, start = 0, end = bytes.length): void {
    if (this.isOver) return;
    if (this.#listener !== undefined) {
      this.#listener.onBody(bytes, start, end);
      return;
    }
    this.#early ??= [];
    this.#early.push(bytes.subarray(start, end));
    this.#earlyBytes += end - start;
    if (this.#earlyBytes > EARLY_BYTES_MAX) this.pause();
  }

  onEnd(): void {
    if (this.isOver) return;
    this.#state = 'ended';
    this.#listener?.onEnd();
  }

  onFailure(failure: unknown): void {
    if (this.isOver) return;
    this.#state = 'failed';
    this.#failure = failure;
    this.#head.reject(failure);
    this.#listener?.onFailure(failure);
  }
}

/** Decodes a body. What is no valid UTF-8 becomes `�`. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

interface GatherLimits {
  readonly bytesMax: number;
  readonly onBytes: (count: number) => void;
}

interface GatherEnds {
  readonly resolve: (text: string | undefined) => void;
  readonly reject: (failure: unknown) => void;
}

/** Gathers a body, and abandons one that is too long. */
class TextGatherer implements BodyListener {
  readonly #exchange: Exchange;
  readonly #limits: GatherLimits;
  readonly #resolve: (text: string | undefined) => void;
  readonly onFailure: (failure: unknown) => void;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(exchange: Exchange, limits: GatherLimits, { resolve, reject }: GatherEnds) {
    this.#exchange = exchange;
    this.#limits = limits;
    this.#resolve = resolve;
    this.onFailure = reject;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#bytes > this.#limits.bytesMax) {
      this.#resolve(undefined);
      this.#exchange.abort(new Error('The body is too long'));
      return;
    }
    try {
      this.#limits.onBytes(end - start);
      this.#parts.push(bytes.subarray(start, end));
    } catch (error) {
      this.#exchange.abort(error);
    }
  }

  onEnd(): void {
    const [first] = this.#parts;
    const isWhole = first !== undefined && this.#parts.length === 1;
    this.#resolve(decodeText(isWhole ? first : Buffer.concat(this.#parts, this.#bytes)));
  }
}
