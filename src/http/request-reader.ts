import { ChunkReader } from './chunk-reader.ts';
import { ProtocolError } from './protocol-error.ts';
import { HEAD_BYTES_MAX, RequestHead } from './request-head.ts';

/** Receives the parts of a request, in order. */
export interface RequestEvents {
  onHead(head: RequestHead, hasBody: boolean): void;
  /** One packet's part of the body, from `start` to `end`. The bytes may be kept: the buffer is not reused. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The request is complete. Without a body, this follows its head at once. */
  onEnd(): void;
}

/** Some old clients send an empty line after a body. */
const BLANK_BYTES_MAX = 2;
/** How much may arrive before the response to the request before it is complete. */
const AHEAD_BYTES_MAX = 256 * 1024;
const LENGTH_FORM = /^\d{1,15}$/;
/** Empty where the client has no name for the server. */
const HOST_FORM = /^(?:(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{0,5})?)?$/;
const NOTHING: Buffer = Buffer.alloc(0);
const CR = 13;
const LF = 10;

/** Reads one request at a time off a connection, wherever the network split its bytes. */
export class RequestReader {
  readonly #events: RequestEvents;
  #phase: 'idle' | 'head' | 'sized' | 'chunked' | 'over' = 'idle';
  /** The beginning of a head, or requests that were sent ahead. */
  #held = NOTHING;
  #blankBytes = 0;
  #bytesLeft = 0;
  #chunks = new ChunkReader();

  constructor(events: RequestEvents) {
    this.#events = events;
  }

  /** True until the first byte of a request. */
  get isIdle(): boolean {
    return this.#phase === 'idle';
  }

  /** True while a part of another request is kept: `push` reads it, with or without more bytes. */
  get isAhead(): boolean {
    return this.#held.length > 0;
  }

  /** True once a request is complete. What follows is kept until `next`. */
  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Reads bytes that arrived. Throws a ProtocolError when they are not valid HTTP. */
  push(bytes: Buffer): void {
    // A head that arrives byte by byte is read again only with each of its lines, and there are not many.
    const isInLine = this.#phase === 'head' && this.#held.length + bytes.length <= HEAD_BYTES_MAX && !bytes.includes(LF);
    const all = this.#join(bytes);
    this.#held = isInLine ? all : NOTHING;
    if (isInLine) return;
    let at = 0;
    while (at < all.length && this.#phase !== 'over') at = this.#readNext(all, at);
    if (at === all.length) return;
    if (all.length - at > AHEAD_BYTES_MAX) throw new ProtocolError('Too much was sent before the response');
    this.#held = all.subarray(at);
  }

  /** Prepares for the next request. */
  next(): void {
    this.#phase = 'idle';
    this.#blankBytes = 0;
  }

  /** Returns what is kept with these bytes behind it, copied only where both exist. */
  #join(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes;
    return bytes.length === 0 ? this.#held : Buffer.concat([this.#held, bytes]);
  }

  /** Reads the next piece, and returns where it ends. */
  #readNext(bytes: Buffer, at: number): number {
    if (this.#phase === 'sized') return this.#readSized(bytes, at);
    return this.#phase === 'chunked' ? this.#readChunks(bytes, at) : this.#readHead(bytes, at);
  }

  #readHead(bytes: Buffer, start: number): number {
    if (this.#phase === 'idle' && (bytes[start] === CR || bytes[start] === LF)) return this.#skipBlank(start);
    this.#phase = 'head';
    const head = RequestHead.read(bytes, start);
    const end = head?.lines.end ?? bytes.length;
    if (end - start > HEAD_BYTES_MAX) throw new ProtocolError('The headers are too long');
    if (head === undefined) this.#held = bytes.subarray(start);
    else this.#begin(head);
    return end;
  }

  #skipBlank(at: number): number {
    this.#blankBytes += 1;
    if (this.#blankBytes > BLANK_BYTES_MAX) throw new ProtocolError('The first line of a request is empty');
    return at + 1;
  }

  #begin(head: RequestHead): void {
    const length = bodyLengthOf(head);
    this.#events.onHead(head, length !== 0);
    if (length === undefined) {
      this.#phase = 'chunked';
      this.#chunks = new ChunkReader();
    } else if (length > 0) {
      this.#phase = 'sized';
      this.#bytesLeft = length;
    } else this.#end();
  }

  #readSized(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#bytesLeft);
    this.#bytesLeft -= end - at;
    this.#events.onBody(bytes, at, end);
    if (this.#bytesLeft === 0) this.#end();
    return end;
  }

  #readChunks(bytes: Buffer, at: number): number {
    const chunks = this.#chunks;
    const rest = at === 0 ? bytes : bytes.subarray(at);
    chunks.read(rest);
    if (chunks.end > chunks.start) this.#events.onBody(rest, chunks.start, chunks.end);
    if (chunks.isOver) this.#end();
    return bytes.length - chunks.excessBytes;
  }

  #end(): void {
    this.#phase = 'over';
    this.#events.onEnd();
  }
}

/** Returns the length of a body; undefined for one in chunks. Whatever a proxy in front might read differently is refused. */
function bodyLengthOf(head: RequestHead): number | undefined {
  const coding = head.get('transfer-encoding');
  const length = head.get('content-length');
  const host = head.get('host');
  if (host === null ? head.isCurrent : head.lines.count('host') > 1) throw new ProtocolError('There must be one Host header');
  if (host !== null && !HOST_FORM.test(host)) throw new ProtocolError('The Host header does not name a host');
  if (coding === null && length === null) return 0;
  if (coding !== null && (length !== null || !head.isCurrent || coding.toLowerCase() !== 'chunked'))
    throw new ProtocolError('The length of the body is ambiguous');
  if (length === null) return undefined;
  if (!LENGTH_FORM.test(length)) throw new ProtocolError('The length of the body is not a number');
  return Number(length);
}
