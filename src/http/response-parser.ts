import { ChunkReader } from './chunk-reader.ts';
import { findLineEnd, HeaderLines } from './header-lines.ts';
import { ProtocolError } from './protocol-error.ts';

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  /** Names are in lower case. A repeated header is joined with commas. */
  readonly headers: { get(name: string): string | undefined };
}

/** Whether the body is compressed, although every request asks for a plain one. An empty list of codings is valid HTTP. */
export function isCompressed({ headers }: ResponseHead): boolean {
  const coding = (headers.get('content-encoding') ?? '').toLowerCase();
  return coding !== '' && coding !== 'identity';
}

/** Receives the parts of a response, in order. */
export interface ResponseEvents {
  onHead(head: ResponseHead): void;
  /** One packet's part of the body, from `start` to `end`. The bytes may be kept: the buffer is not reused. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The response is complete. */
  onEnd(): void;
}

const HEAD_BYTES_MAX = 64 * 1024;
const HELD_BYTES_MIN = 1024;
const INTERIM_MAX = 10;
const LINE_END = '\r\n';
const HEAD_END = '\r\n\r\n';
const NOTHING: Buffer = Buffer.alloc(0);

const HEADERS_MAX = 200;
const VERSION = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;

type Framing = 'head' | 'none' | 'sized' | 'chunked' | 'until_close' | 'over';

/** Reads one response at a time off a connection, wherever the network split its bytes. */
export class ResponseParser {
  readonly #events: ResponseEvents;
  #framing: Framing = 'over';
  /** The beginning of an incomplete head. */
  #held = NOTHING;
  #heldBytes = 0;
  #interims = 0;
  #bytesLeft = 0;
  #chunks = new ChunkReader();
  #isReusable = false;
  #keepMs: number | undefined;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** True when the connection may carry another request after this response. */
  get isReusable(): boolean {
    return this.#isReusable;
  }

  /** How long the server says it keeps an idle connection. */
  get keepMs(): number | undefined {
    return this.#keepMs;
  }

  /** Prepares for the next response. */
  begin(): void {
    this.#framing = 'head';
    this.#held = NOTHING;
    this.#heldBytes = 0;
    this.#interims = 0;
    this.#isReusable = false;
  }

  /** Reads bytes that arrived. Throws a ProtocolError when they are not valid HTTP. */
  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes;
    while (this.#framing === 'head' && rest !== undefined) rest = this.#readHead(rest);
    if (rest !== undefined) this.#readBody(rest);
  }

  /** Handles the end of the connection. Throws when the response is incomplete. */
  close(): void {
    if (this.#framing === 'until_close') this.#end(0);
    else if (this.#framing !== 'over') throw new ProtocolError('The connection was closed before the response was complete');
  }

  /** Returns the bytes after the head; undefined while the head is incomplete. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const known = this.#heldBytes;
    const all = known === 0 ? bytes : this.#hold(bytes);
    const end = all.indexOf(HEAD_END, Math.max(0, known - HEAD_END.length + 1), 'latin1');
    if (end > HEAD_BYTES_MAX || (end === -1 && all.length > HEAD_BYTES_MAX)) throw new ProtocolError('The head is too long');
    if (end === -1) {
      refuseOtherProtocol(all);
      if (known === 0) this.#hold(bytes);
      return undefined;
    }
    this.#heldBytes = 0;
    this.#takeHead(all, end);
    return all.subarray(end + HEAD_END.length);
  }

  /** Appends to the held bytes in a buffer that doubles, so a head that arrives byte by byte is not copied each time. */
  #hold(bytes: Buffer): Buffer {
    const length = this.#heldBytes + bytes.length;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * length, HELD_BYTES_MIN));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldBytes);
    this.#heldBytes = length;
    return this.#held.subarray(0, length);
  }

  #takeHead(bytes: Buffer, end: number): void {
    const lineEnd = findLineEnd(bytes, 0);
    const form = STATUS_LINE.exec(bytes.toString('latin1', 0, lineEnd));
    const headers = HeaderLines.read(bytes, lineEnd + LINE_END.length, HEADERS_MAX);
    if (form === null || headers?.end !== end + HEAD_END.length) throw new ProtocolError('The head is not that of an HTTP/1.1 response');
    const status = Number(form[2]);
    if (status === 101) throw new ProtocolError('The protocol was switched without a request for it');
    if (status < 200) {
      this.#interims += 1;
      if (this.#interims > INTERIM_MAX) throw new ProtocolError(`There were more than ${INTERIM_MAX} interim responses`);
      return;
    }
    this.#frame(status, headers, form[1] === '1');
    this.#events.onHead({ status, headers });
  }

  /** Decides where the body ends. Chunked framing wins over a length. A head with both is suspect, so its connection is not kept. */
  #frame(status: number, headers: HeaderLines, isCurrent: boolean): void {
    const length = readLength(headers.get('content-length'));
    const coding = headers.get('transfer-encoding');
    const isClosing = /\bclose\b/i.test(headers.get('connection') ?? '');
    this.#keepMs = readKeepMs(headers.get('keep-alive'));
    this.#isReusable = isCurrent && !isClosing && (coding === undefined || length === undefined);
    if (status === 204 || status === 304) {
      this.#framing = 'none';
    } else if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked') throw new ProtocolError('The transfer coding is not supported');
      this.#framing = 'chunked';
      this.#chunks = new ChunkReader();
    } else if (length !== undefined) {
      this.#framing = 'sized';
      this.#bytesLeft = length;
    } else {
      this.#framing = 'until_close';
      this.#isReusable = false;
    }
  }

  #readBody(bytes: Buffer): void {
    switch (this.#framing) {
      case 'chunked':
        return this.#readChunks(bytes);
      case 'sized':
        return this.#readSized(bytes);
      case 'none':
        return this.#end(bytes.length);
      case 'until_close':
        return this.#emitBody(bytes, 0, bytes.length);
      case 'head':
      case 'over':
        throw new ProtocolError('There are bytes that belong to no response');
    }
  }

  #readChunks(bytes: Buffer): void {
    this.#chunks.read(bytes);
    this.#emitBody(bytes, this.#chunks.start, this.#chunks.end);
    if (this.#chunks.isOver) this.#end(this.#chunks.excessBytes);
  }

  #readSized(bytes: Buffer): void {
    const taken = Math.min(this.#bytesLeft, bytes.length);
    this.#bytesLeft -= taken;
    this.#emitBody(bytes, 0, taken);
    if (this.#bytesLeft === 0) this.#end(bytes.length - taken);
  }

  #emitBody(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#events.onBody(bytes, start, end);
  }

  /** Ends the response. Bytes after its end must not be taken for the next response, so the connection is not reused. */
  #end(excessBytes: number): void {
    this.#framing = 'over';
    if (excessBytes > 0) this.#isReusable = false;
    this.#events.onEnd();
  }
}

/** Throws if the beginning of a head cannot become one. The end of such a text might never come. */
function refuseOtherProtocol(bytes: Buffer): void {
  const version = bytes.toString('latin1', 0, VERSION.length);
  if (!VERSION.startsWith(version)) throw new ProtocolError('The server does not speak HTTP/1.1');
  // Throws if the first line ends in another way than lines of HTTP do.
  findLineEnd(bytes, 0);
}

const LENGTH = /^\d{1,15}$/;

/** Reads the length. If it is sent twice, both must agree, or two readers would see two different bodies. */
function readLength(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (LENGTH.test(text)) return Number(text);
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  if (!LENGTH.test(first) || others.some((other) => other !== first)) throw new ProtocolError('The length of the body is ambiguous');
  return Number(first);
}

function readKeepMs(text: string | undefined): number | undefined {
  const seconds = /\btimeout=(\d{1,6})/i.exec(text ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
