import type { ResponseEvents, ResponseHead } from './response-parser.ts';

/** Where the bytes of a response come from. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Ends the transfer at once; nothing is heard of it afterwards. */
  cancel(): void;
}

/** Hears a body as it arrives: pieces, each of them a part of a packet, then one end or one failure. */
export interface BodyListener {
  onBody(bytes: Buffer, start: number, end: number): void;
  onEnd(): void;
  onFailure(failure: unknown): void;
}

/** What arrives before anybody listens is kept, but not without end. */
const EARLY_BYTES_MAX = 256 * 1024;
const decoder = new TextDecoder();

/** One request on its way and the response to it, wherever its bytes come from. */
export class Exchange implements ResponseEvents {
  /** The head of the response. Rejects when the exchange fails before there is one. */
  readonly head: Promise<ResponseHead>;
  readonly #tellConnected: () => void;
  #resolveHead: (head: ResponseHead) => void = () => undefined;
  #rejectHead: (failure: unknown) => void = () => undefined;
  #source: ByteSource | undefined;
  #listener: BodyListener | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #isPaused = false;
  #state: 'open' | 'ended' | 'failed' = 'open';
  #failure: unknown;

  /** `onConnected` is called when the request goes out; there may be nobody on the other side before that. */
  constructor(onConnected: () => void) {
    this.#tellConnected = onConnected;
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
  }

  /** True when nothing more will come. */
  get isOver(): boolean {
    return this.#state !== 'open';
  }

  /** The body as text; undefined when it has more bytes than that. */
  text(bytesMax: number): Promise<string | undefined> {
    return new Promise((resolve, reject) => this.listen(new TextGatherer(this, bytesMax, resolve, reject)));
  }

  /** Tells the listener what has arrived and what will. */
  listen(listener: BodyListener): void {
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    for (const bytes of early) listener.onBody(bytes, 0, bytes.length);
    if (this.#state === 'ended') listener.onEnd();
    else if (this.#state === 'failed') listener.onFailure(this.#failure);
    else this.resume();
  }

  /** Takes no more from the other side, which then has to wait. */
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

  /** Ends the exchange before it is over, for this reason. */
  abort(reason: unknown): void {
    if (this.isOver) return;
    this.#source?.cancel();
    this.onFailure(reason);
  }

  /** The response will come from here. */
  attach(source: ByteSource): void {
    this.#source = source;
  }

  /** The request goes out. */
  onConnected(): void {
    this.#tellConnected();
  }

  onHead(head: ResponseHead): void {
    this.#resolveHead(head);
  }

  onBody(bytes: Buffer, start = 0, end = bytes.length): void {
    if (this.isOver) return;
    if (this.#listener !== undefined) {
      this.#listener.onBody(bytes, start, end);
      return;
    }
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
    this.#rejectHead(failure);
    this.#listener?.onFailure(failure);
  }
}

/** Gathers a body, and gives up on one that is too long. */
class TextGatherer implements BodyListener {
  readonly #exchange: Exchange;
  readonly #bytesMax: number;
  readonly #resolve: (text: string | undefined) => void;
  readonly onFailure: (failure: unknown) => void;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(exchange: Exchange, bytesMax: number, resolve: (text: string | undefined) => void, reject: (failure: unknown) => void) {
    this.#exchange = exchange;
    this.#bytesMax = bytesMax;
    this.#resolve = resolve;
    this.onFailure = reject;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start;
    if (this.#bytes <= this.#bytesMax) {
      this.#parts.push(bytes.subarray(start, end));
      return;
    }
    this.#resolve(undefined);
    this.#exchange.abort(new Error('The body is too long'));
  }

  onEnd(): void {
    const [first] = this.#parts;
    const isWhole = first !== undefined && this.#parts.length === 1;
    this.#resolve(decoder.decode(isWhole ? first : Buffer.concat(this.#parts, this.#bytes)));
  }
}
