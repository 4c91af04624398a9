import { ChunkReader } from './chunk-reader.ts';
import { IncomingRequest } from './incoming.ts';
import { Outbox } from './outbox.ts';
import { OutgoingStream, type StreamCarrier } from './outgoing-stream.ts';
import { ProtocolError } from './protocol-error.ts';
import { HEAD_BYTES_MAX, RequestHead } from './request-head.ts';

/** A response, ready to be written. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | OutgoingStream;
}

/** What a connection belongs to. */
export interface ConnectionOwner {
  /** The time of the last tick, from `performance.now()`. Precise enough for limits of seconds. */
  readonly nowMs: number;
  /** The value of the `date` header. */
  readonly date: string;
  /** Answers a request. Never rejects. */
  answer(request: IncomingRequest, connection: ClientConnection): void;
  /** Answers bytes that are not a request. */
  refuse(problem: string): Outgoing;
  onClosed(connection: ClientConnection): void;
}

/** Longer than load balancers keep idle connections, so that they close first and no request meets a closed connection. */
const IDLE_MS = 75_000;
/** How long the head of a request may take to arrive. */
const HEAD_MS = 10_000;
/** How long a client may read nothing of what is sent to it. Then its connection is closed, and its request settled. */
const STALLED_MS = 30_000;
/** How long the rest of a body is read that nobody wants: a client that still sends would not see the response if the connection were cut. */
const UNWANTED_BODY_MS = 10_000;
/** How long a client may take to close a connection that we have ended. */
const CLOSE_MS = 2000;
/** Longer bodies are sent by themselves: gathering them would copy them. */
const GATHERED_LENGTH_MAX = 64 * 1024;
/** How much may arrive before the response to the request before it is complete. */
const AHEAD_BYTES_MAX = 256 * 1024;
/** No body is this long. */
const LENGTH_FORM = /^\d{1,15}$/;

/** Gathers what one write sends, for all connections: it is empty again when a call returns. */
const outbox = new Outbox();
const STREAM_END = '0\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/** The phases of a connection: between requests, in a head, in a body, and after it until the response is complete. */
type Phase = 'idle' | 'head' | 'sized' | 'chunked' | 'answering' | 'closed';

/** One client's connection: takes its requests one after another, and writes the responses. */
export class ClientConnection implements StreamCarrier {
  /** When the connection is closed unless something happens before. */
  closesAtMs: number;
  readonly #owner: ConnectionOwner;
  readonly #socket: Bun.Socket<ClientConnection>;
  #phase: Phase = 'idle';
  /** The beginning of a head, or requests that were sent ahead. */
  #held: Buffer = NOTHING;
  #bytesLeft = 0;
  #chunks: ChunkReader | undefined;
  #request: IncomingRequest | undefined;
  /** True once the response has been handed over to the runtime or waits in `#unsent`. */
  #hasAnswered = false;
  #stream: OutgoingStream | undefined;
  #isFramed = false;
  #isLast = false;
  /** What the socket did not accept yet. */
  #unsent: Buffer | undefined;
  #isEnding = false;

  constructor(socket: Bun.Socket<ClientConnection>, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.closesAtMs = owner.nowMs + IDLE_MS;
  }

  get isFull(): boolean {
    return this.#unsent !== undefined;
  }

  /** True between two requests. */
  get isIdle(): boolean {
    return this.#phase === 'idle' && this.#unsent === undefined;
  }

  get address(): string {
    return this.#socket.remoteAddress;
  }

  /** Closes the connection after the response in progress, at once if there is none. */
  finish(): void {
    this.#isLast = true;
    if (this.isIdle) this.#end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#socket.terminate();
    this.onClose();
  }

  onData(bytes: Buffer): void {
    if (this.#phase === 'closed' || this.#isEnding) return;
    try {
      this.#take(this.#held.length === 0 ? bytes : this.#joinHeld(bytes));
    } catch (error) {
      this.#refuse(error);
    }
  }

  onDrain(): void {
    const unsent = this.#unsent;
    if (unsent === undefined) return;
    const written = this.#write(unsent, unsent.length);
    this.#unsent = written < unsent.length ? unsent.subarray(written) : undefined;
    if (this.#unsent !== undefined) return;
    if (this.#isEnding || (this.#isLast && this.#phase === 'idle')) return this.#end();
    this.closesAtMs = this.#phase === 'idle' ? this.#owner.nowMs + IDLE_MS : Number.POSITIVE_INFINITY;
    this.#stream?.onDrain();
  }

  onClose(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#unsent = undefined;
    this.#owner.onClosed(this);
    const [request, stream] = [this.#request, this.#stream];
    this.#request = this.#stream = undefined;
    request?.onGone();
    stream?.onGone();
  }

  /** Writes the response to a request. Returns false when that is no longer possible. */
  reply(request: IncomingRequest, { status, headers, body }: Outgoing): boolean {
    if (this.#request !== request || this.#hasAnswered || this.#phase === 'closed') return false;
    const isHead = request.method === 'HEAD';
    const head = this.#head(status, headers, body);
    this.#hasAnswered = true;
    outbox.addText(head);
    if (body instanceof OutgoingStream) {
      this.#isFramed = request.head.isCurrent;
      this.#stream = body;
      body.start(this);
      if (outbox.length > 0) this.#flush();
      return true;
    }
    if (isHead) this.#flush();
    else if (body.length > GATHERED_LENGTH_MAX) this.#sendLong(body);
    else this.#sendShort(body);
    this.#onReplied();
    return true;
  }

  sendPart(text: string): void {
    if (text === '') return;
    if (this.#isFramed) addPartLength(Buffer.byteLength(text));
    outbox.addText(text);
    if (this.#isFramed) addLineEnd();
    this.#flush();
  }

  sendPartBytes(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isFramed) addPartLength(end - start);
    outbox.addBytes(bytes, start, end);
    if (this.#isFramed) addLineEnd();
    this.#flush();
  }

  sendEnd(text: string): void {
    this.#stream = undefined;
    if (text !== '' && this.#isFramed) addPartLength(Buffer.byteLength(text));
    if (this.#isFramed) outbox.addText(text === '' ? STREAM_END : `${text}\r\n${STREAM_END}`);
    else {
      outbox.addText(text);
      this.#isLast = true;
    }
    this.#flush();
    this.#onReplied();
  }

  onWanted(): void {
    if (this.#request?.headers.get('expect')?.toLowerCase() === '100-continue' && !this.#hasAnswered)
      this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #joinHeld(bytes: Buffer): Buffer {
    const joined = Buffer.concat([this.#held, bytes]);
    this.#held = NOTHING;
    return joined;
  }

  /** Takes what arrived: the rest of a request, and the requests behind it once the responses before them are complete. */
  #take(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.#phase !== 'answering' && this.#phase !== 'closed') at = this.#takeNext(bytes, at);
    if (at < bytes.length && this.#phase === 'answering') this.#hold(bytes, at, AHEAD_BYTES_MAX, 'Too much was sent before the response');
    const request = this.#request;
    if (request !== undefined && !request.isHandled) {
      request.isHandled = true;
      this.#owner.answer(request, this);
    }
  }

  /** Takes the next piece, and returns where it ends. */
  #takeNext(bytes: Buffer, at: number): number {
    switch (this.#phase) {
      case 'sized':
        return this.#takeSized(bytes, at);
      case 'chunked':
        return this.#takeChunks(bytes, at);
      default:
        return this.#takeHead(bytes, at);
    }
  }

  #takeHead(bytes: Buffer, start: number): number {
    // Some old clients send an empty line after a body.
    if (this.#phase === 'idle' && bytes[start] === CR && bytes[start + 1] === LF) return start + 2;
    if (this.#phase === 'idle') this.closesAtMs = this.#owner.nowMs + HEAD_MS;
    this.#phase = 'head';
    const read = RequestHead.read(bytes, start);
    if ((read?.end ?? bytes.length) - start > HEAD_BYTES_MAX) throw new ProtocolError('The headers are too long');
    if (read === undefined) {
      this.#hold(bytes, start, HEAD_BYTES_MAX, 'The headers are too long');
      return bytes.length;
    }
    this.#begin(read.head);
    return read.end;
  }

  /** Begins a request. Its handler is called once the rest of the packet has been read, which often is the whole body. */
  #begin(head: RequestHead): void {
    const length = this.#frame(head);
    this.closesAtMs = Number.POSITIVE_INFINITY;
    this.#hasAnswered = false;
    this.#isLast ||= !wantsMore(head);
    this.#request = new IncomingRequest(head, length !== 0, this);
    this.#bytesLeft = length ?? 0;
    this.#chunks = length === undefined ? new ChunkReader() : undefined;
    this.#phase = length === undefined ? 'chunked' : length > 0 ? 'sized' : 'answering';
  }

  /** Returns the length of the body; undefined for one in chunks. Whatever another server might read differently is refused. */
  #frame(head: RequestHead): number | undefined {
    const coding = head.get('transfer-encoding');
    const length = head.get('content-length');
    const hosts = head.count('host');
    if (hosts > 1 || (hosts === 0 && head.isCurrent)) throw new ProtocolError('There must be one Host header');
    if (coding === null && length === null) return 0;
    if (coding !== null && (length !== null || !head.isCurrent || coding.toLowerCase() !== 'chunked'))
      throw new ProtocolError('The length of the body is ambiguous');
    if (length === null) return undefined;
    if (!LENGTH_FORM.test(length)) throw new ProtocolError('Content-Length is not a number');
    return Number(length);
  }

  #takeSized(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#bytesLeft);
    this.#bytesLeft -= end - at;
    this.#passOn(bytes, at, end);
    if (this.#bytesLeft === 0) this.#endBody();
    return end;
  }

  #takeChunks(bytes: Buffer, at: number): number {
    const chunks = this.#chunks;
    if (chunks === undefined) throw new TypeError('There is no body in chunks');
    const rest = at === 0 ? bytes : bytes.subarray(at);
    chunks.read(rest);
    this.#passOn(rest, chunks.start, chunks.end);
    if (chunks.isOver) this.#endBody();
    return bytes.length - chunks.excessBytes;
  }

  #passOn(bytes: Buffer, start: number, end: number): void {
    // After the response, the rest of the body is read only to be dropped.
    if (end > start && !this.#hasAnswered) this.#request?.onBody(bytes.subarray(start, end));
  }

  #endBody(): void {
    this.#phase = 'answering';
    this.#request?.onBodyEnd();
    if (this.#hasAnswered && this.#stream === undefined) this.#endResponse();
  }

  #hold(bytes: Buffer, start: number, bytesMax: number, problem: string): void {
    if (bytes.length - start > bytesMax) throw new ProtocolError(problem);
    this.#held = bytes.subarray(start);
  }

  #head(status: number, headers: Outgoing['headers'], body: Outgoing['body']): string {
    let head = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Unknown'}\r\ndate: ${this.#owner.date}\r\n`;
    for (const name in headers) {
      const value = headers[name] ?? '';
      if (typeof value === 'string') head += `${name}: ${value}\r\n`;
      else for (const each of value) head += `${name}: ${each}\r\n`;
      if (name === 'connection' && value === 'close') this.#isLast = true;
    }
    if (this.#isLast && headers['connection'] === undefined) head += 'connection: close\r\n';
    if (body instanceof OutgoingStream) return this.#request?.head.isCurrent === true ? `${head}transfer-encoding: chunked\r\n\r\n` : `${head}\r\n`;
    if (status === 204 || status === 304) return `${head}\r\n`;
    return `${head}content-length: ${typeof body === 'string' ? Buffer.byteLength(body) : body.length}\r\n\r\n`;
  }

  #flush(): void {
    this.#send(outbox.bytes, outbox.length);
    outbox.clear();
  }

  #sendShort(body: string | Uint8Array): void {
    if (typeof body === 'string') outbox.addText(body);
    else outbox.addBytes(body, 0, body.length);
    this.#flush();
  }

  /** Sends a long body after what is gathered, without copying it. */
  #sendLong(body: string | Uint8Array): void {
    this.#flush();
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length);
    const written = this.#unsent === undefined ? this.#write(bytes, bytes.length) : 0;
    if (written < bytes.length) this.#keep(bytes.subarray(written));
  }

  /** Sends bytes that are not ours to keep. */
  #send(bytes: Buffer, length: number): void {
    const written = this.#unsent === undefined ? this.#write(bytes, length) : 0;
    if (written < length) this.#keep(Buffer.from(bytes.subarray(written, length)));
  }

  /** Keeps what the socket does not accept yet. */
  #keep(bytes: Buffer): void {
    this.#unsent = this.#unsent === undefined ? bytes : Buffer.concat([this.#unsent, bytes]);
  }

  /** Writes to the socket, and returns how much it accepted. */
  #write(bytes: Buffer, length: number): number {
    if (this.#phase === 'closed') return length;
    const written = Math.max(0, this.#socket.write(bytes, 0, length));
    if (written < length) this.closesAtMs = this.#owner.nowMs + STALLED_MS;
    return written;
  }

  #onReplied(): void {
    if (this.#phase === 'answering') this.#endResponse();
    // The rest of the body is still to come. A client that announced it and waits for permission will not send it.
    else if (this.#phase !== 'closed') this.closesAtMs = this.#owner.nowMs + UNWANTED_BODY_MS;
  }

  /** Prepares for the next request, or closes the connection. */
  #endResponse(): void {
    this.#request = undefined;
    this.#phase = 'idle';
    if (this.#isLast) return this.#end();
    if (this.#unsent === undefined) this.closesAtMs = this.#owner.nowMs + IDLE_MS;
    // In a turn of its own: thousands of requests sent ahead would otherwise nest.
    if (this.#held.length > 0) queueMicrotask(() => this.onData(NOTHING));
  }

  /** Answers bytes that are not a request, and closes the connection: where the next request begins is unknown. */
  #refuse(error: unknown): void {
    if (!(error instanceof ProtocolError)) throw error;
    this.#isLast = true;
    if (this.#stream !== undefined || this.#hasAnswered) return this.cut();
    const request = this.#request;
    this.#request = undefined;
    request?.onGone();
    const { status, headers, body } = this.#owner.refuse(error.message);
    outbox.addText(this.#head(status, headers, body));
    if (typeof body === 'string') outbox.addText(body);
    this.#flush();
    this.#end();
  }

  /** Closes the connection once everything is sent. */
  #end(): void {
    this.#isEnding = true;
    if (this.#unsent !== undefined) return;
    this.closesAtMs = this.#owner.nowMs + CLOSE_MS;
    this.#socket.end();
  }
}

const CR = 13;
const LF = 10;
const DIGITS = Buffer.from('0123456789abcdef');

/** Writes the line that precedes a part of a body in chunks: its length. Byte by byte, because a token is sent this way. */
function addPartLength(length: number): void {
  let shift = 0;
  while (length >>> (shift + 4) > 0) shift += 4;
  for (; shift >= 0; shift -= 4) outbox.addByte(DIGITS[(length >>> shift) & 15] ?? 0);
  addLineEnd();
}

function addLineEnd(): void {
  outbox.addByte(CR);
  outbox.addByte(LF);
}

/** Whether the client wants to send another request over the same connection. */
function wantsMore(head: RequestHead): boolean {
  const connection = head.get('connection')?.toLowerCase() ?? '';
  return head.isCurrent ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};
