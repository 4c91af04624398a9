import { GatheredBytes } from './gathered-bytes.ts';
import { ProtocolError } from './protocol-error.ts';
import type { RequestHead } from './request-head.ts';
import { readRequestUrl } from './request-url.ts';

/** A request as the operations of `/v1` see it. A standard `Request` is one too. */
export interface Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly signal: { readonly aborted: boolean };
  /** The parts of the body as they arrive; null without one. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Returns the whole body, at once where it has arrived. */
  bytes(): Uint8Array | Promise<Uint8Array>;
}

/** The connection that a body arrives over. */
interface BodySource {
  /** The handler wants the body: a client that waits for permission to send it may do so. */
  onWanted(): void;
  pause(): void;
  resume(): void;
}

/** How much of a body that nobody reads yet is kept. Then the client has to wait. */
const UNREAD_BYTES_MAX = 256 * 1024;
const NOTHING = new Uint8Array();
/** What the runtime's own requests can carry. It would take any other word for GET. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A request on a client's connection. */
export class IncomingRequest implements Incoming {
  readonly head: RequestHead;
  /** True once the client has gone before its answer was complete. */
  aborted = false;
  /** True once its handler was called. */
  isHandled = false;
  readonly #source: BodySource;
  readonly #hasBody: boolean;
  #parts: Uint8Array[] = [];
  #unreadBytes = 0;
  #isWhole: boolean;
  #isPaused = false;
  /** The reader that waits for the next part, or for the end. */
  #reader: PromiseWithResolvers<void> | undefined;

  constructor(head: RequestHead, hasBody: boolean, source: BodySource) {
    this.head = head;
    this.#hasBody = hasBody;
    this.#isWhole = !hasBody;
    this.#source = source;
  }

  get method(): string {
    return this.head.method;
  }

  /** Only the path where there is no host. */
  get url(): string {
    const { target } = this.head;
    const host = this.head.get('host') ?? '';
    return target.startsWith('/') && host !== '' ? `http://${host}${target}` : target;
  }

  get headers(): RequestHead {
    return this.head;
  }

  get signal(): this {
    return this;
  }

  get body(): AsyncIterable<Uint8Array> | null {
    return this.#hasBody ? this.#read() : null;
  }

  /** True once the body has arrived. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  bytes(): Uint8Array | Promise<Uint8Array> {
    const [first = NOTHING] = this.#parts;
    return this.#isWhole && this.#parts.length <= 1 ? first : this.#gather();
  }

  /** Returns the request in the standard form. Its body must have no bounds but those of its reader. */
  standard(): Request {
    const { method } = this;
    const url = readRequestUrl(this);
    if (url === undefined) throw new ProtocolError('The URL is not valid');
    if (!METHODS.has(method)) throw new ProtocolError('The method is not supported');
    const hasBody = this.#hasBody && method !== 'GET' && method !== 'HEAD';
    return new Request(url, {
      method,
      headers: this.head.lines.entries(),
      ...(hasBody && { body: streamOf(this.#read()) }),
    });
  }

  /** Takes a part of the body. */
  onBody(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes > UNREAD_BYTES_MAX && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wake();
  }

  onBodyEnd(): void {
    this.#isWhole = true;
    this.#wake();
  }

  /** Notes that the client has gone. */
  onGone(): void {
    this.aborted = true;
    this.#wake();
  }

  #wake(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.resolve();
  }

  async #gather(): Promise<Uint8Array> {
    const gathered = new GatheredBytes();
    for await (const part of this.#read()) gathered.add(part);
    return gathered.take();
  }

  /** Gives out the parts as they arrive. While one is being worked on, the client may send a few more. */
  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    if (!this.#isWhole) this.#source.onWanted();
    for (;;) {
      const parts = this.#parts;
      this.#parts = [];
      this.#unreadBytes = 0;
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#source.resume();
      }
      yield* parts;
      if (this.aborted) throw new Error('The client has gone');
      if (this.#parts.length > 0) continue;
      if (this.#isWhole) return;
      this.#reader = Promise.withResolvers();
      await this.#reader.promise;
    }
  }
}

function streamOf(parts: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
