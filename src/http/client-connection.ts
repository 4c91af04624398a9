import type { HeldBytes } from './held-bytes.ts';
import { IncomingRequest } from './incoming.ts';
import { Outbox } from './outbox.ts';
import { OutgoingStream, type StreamCarrier } from './outgoing-stream.ts';
import { type Outgoing, writeHead } from './outgoing.ts';
import type { RequestHead } from './request-head.ts';
import { type RequestEvents, RequestReader } from './request-reader.ts';
import { SocketWriter } from './socket-writer.ts';

/** The server that a connection belongs to. */
export interface ConnectionOwner {
  /** Counts what clients have not read yet. */
  readonly held: HeldBytes;
  /** The time of the last tick, from `performance.now()`. Precise enough for limits of seconds. */
  readonly nowMs: number;
  /** The value of the `date` header. */
  readonly date: string;
  /** Answers a request. Never throws. */
  answer(request: IncomingRequest, connection: ClientConnection): void;
  /** Answers bytes that could not be read as a request. */
  refuse(error: unknown): Outgoing;
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
/** Longer bodies are sent by themselves: gathering them would copy them. */
const GATHERED_LENGTH_MAX = 64 * 1024;

/** Gathers what one write sends, for all connections: it is empty again when a call returns. */
const outbox = new Outbox();

/** One client's connection: takes its requests one after another, and writes the responses. */
export class ClientConnection implements StreamCarrier, RequestEvents {
  /** The address at the other end. */
  readonly address: string;
  /** When the connection is cut unless something happens before. */
  cutAtMs: number;
  readonly #owner: ConnectionOwner;
  readonly #socket: Bun.Socket<ClientConnection>;
  readonly #reader = new RequestReader(this);
  readonly #writer: SocketWriter;
  #request: IncomingRequest | undefined;
  /** True from the head of a response on. */
  #hasAnswered = false;
  /** The body of the response in progress. */
  #stream: OutgoingStream | undefined;
  #isChunked = false;
  /** True while the next request waits for the client to read the responses before it. */
  #isHeldBack = false;
  /** True when the connection is closed after this response. */
  #isLast = false;
  #state: 'open' | 'ending' | 'closed' = 'open';

  constructor(socket: Bun.Socket<ClientConnection>, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.address = socket.remoteAddress;
    this.#writer = new SocketWriter(socket, owner.held);
    this.cutAtMs = owner.nowMs + IDLE_MS;
  }

  get isFull(): boolean {
    return this.#writer.isFull;
  }

  /** Closes the connection after the response in progress, at once if there is none. */
  finish(): void {
    this.#isLast = true;
    if (this.#reader.isIdle && !this.isFull) this.#end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#socket.terminate();
    this.onClose();
  }

  onData(bytes: Buffer): void {
    if (this.#state !== 'open') return;
    if (this.#reader.isIdle) this.cutAtMs = this.#owner.nowMs + HEAD_MS;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#refuse(error);
    }
    this.#answerNew();
  }

  onDrain(): void {
    this.#writer.drain();
    if (this.isFull) this.cutAtMs = this.#owner.nowMs + STALLED_MS;
    else if (this.#state === 'ending' || (this.#isLast && this.#reader.isIdle)) this.#end();
    else {
      this.#waitOn();
      if (this.#isHeldBack) this.#goOn();
      this.#stream?.onDrain();
    }
  }

  onClose(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#writer.clear();
    this.#owner.onClosed(this);
    const [request, stream] = [this.#request, this.#stream];
    this.#request = this.#stream = undefined;
    request?.onGone();
    stream?.onGone();
  }

  onHead(head: RequestHead, hasBody: boolean): void {
    this.#hasAnswered = false;
    this.#isLast ||= !wantsMore(head);
    this.#request = new IncomingRequest(head, hasBody, this);
    if (!this.isFull) this.cutAtMs = Number.POSITIVE_INFINITY;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    // After the response, the rest of the body is read only to be dropped.
    if (!this.#hasAnswered) this.#request?.onBody(bytes.subarray(start, end));
  }

  onEnd(): void {
    this.#request?.onBodyEnd();
    if (this.#hasAnswered && this.#stream === undefined) this.#onAnswered();
  }

  /** A client may wait for permission before it sends a body. It gets it when somebody wants to read the body. */
  onWanted(): void {
    const expectation = this.#request?.headers.get('expect');
    if (expectation?.toLowerCase() === '100-continue' && this.#request?.head.isCurrent === true && !this.#hasAnswered)
      this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Writes the response to a request. Returns false when that is no longer possible. */
  reply(request: IncomingRequest, outgoing: Outgoing): boolean {
    if (this.#request !== request || this.#hasAnswered) return false;
    this.#sendHead(outgoing, request.head.isCurrent);
    const { body } = outgoing;
    if (request.method === 'HEAD') {
      this.#flush();
      if (body instanceof OutgoingStream) body.onGone();
    } else if (body instanceof OutgoingStream) {
      this.#stream = body;
      // The first part goes out with the head.
      body.start(this);
      if (outbox.length > 0) this.#flush();
      return true;
    } else this.#sendBody(body);
    this.#onAnswered();
    return true;
  }

  sendPart(text: string): void {
    if (text === '') return;
    if (this.#isChunked) addPartLength(Buffer.byteLength(text));
    outbox.addText(text);
    if (this.#isChunked) addLineEnd();
    this.#flush();
  }

  sendPartBytes(bytes: Buffer, start: number, end: number): void {
    if (this.#isChunked) addPartLength(end - start);
    outbox.addBytes(bytes, start, end);
    if (this.#isChunked) addLineEnd();
    this.#flush();
  }

  sendEnd(text: string): void {
    this.#stream = undefined;
    if (this.#isChunked && text !== '') addPartLength(Buffer.byteLength(text));
    outbox.addText(text);
    if (this.#isChunked) outbox.addText(text === '' ? '0\r\n\r\n' : '\r\n0\r\n\r\n');
    else this.#isLast = true;
    this.#flush();
    this.#onAnswered();
  }

  #answerNew(): void {
    const request = this.#request;
    if (request === undefined || request.isHandled) return;
    request.isHandled = true;
    this.#owner.answer(request, this);
  }

  #sendHead(outgoing: Outgoing, isChunked: boolean): void {
    if (outgoing.headers['connection'] === 'close') this.#isLast = true;
    this.#isChunked = isChunked;
    outbox.addText(writeHead(outgoing, { date: this.#owner.date, isLast: this.#isLast, isChunked }));
    this.#hasAnswered = true;
  }

  #sendBody(body: string | Uint8Array): void {
    const isLong = body.length > GATHERED_LENGTH_MAX;
    if (typeof body === 'string' && !isLong) {
      outbox.addText(body);
      this.#flush();
      return;
    }
    this.#flush();
    this.#writer.writeKept(typeof body === 'string' ? Buffer.from(body) : bufferOf(body));
    if (this.isFull) this.cutAtMs = this.#owner.nowMs + STALLED_MS;
  }

  /** Sends what is gathered. */
  #flush(): void {
    const wasFull = this.isFull;
    if (this.#state !== 'closed') this.#writer.write(outbox.bytes, outbox.length);
    outbox.clear();
    if (this.isFull && !wasFull) this.cutAtMs = this.#owner.nowMs + STALLED_MS;
  }

  /** The response is written. Once the request has been read to its end too, the next one may come. */
  #onAnswered(): void {
    if (this.#state !== 'open') return;
    if (this.#reader.isOver) {
      this.#request = undefined;
      this.#hasAnswered = false;
      this.#reader.next();
      if (this.#isLast) return this.#end();
      if (this.isFull) this.#holdBack();
      else this.#takeAhead();
    } else this.resume();
    this.#waitOn();
  }

  /** Takes no more requests from a client that does not read its responses. */
  #holdBack(): void {
    this.#isHeldBack = true;
    this.pause();
  }

  #goOn(): void {
    this.#isHeldBack = false;
    this.resume();
    this.#takeAhead();
  }

  /** Reads a request that was sent ahead, in a turn of its own: thousands of them must not keep other clients waiting. */
  #takeAhead(): void {
    if (this.#reader.isAhead) setImmediate(() => this.onData(NOTHING));
  }

  /** Sets the time limit for what is waited for now. */
  #waitOn(): void {
    if (this.isFull) return;
    const { nowMs } = this.#owner;
    if (this.#reader.isIdle) this.cutAtMs = nowMs + IDLE_MS;
    else this.cutAtMs = this.#hasAnswered && this.#stream === undefined ? nowMs + UNWANTED_BODY_MS : Number.POSITIVE_INFINITY;
  }

  /** Answers bytes that are not a request, and closes the connection: where the next request begins is unknown. */
  #refuse(error: unknown): void {
    const outgoing = this.#owner.refuse(error);
    if (this.#hasAnswered) return this.cut();
    const request = this.#request;
    this.#request = undefined;
    request?.onGone();
    this.#isLast = true;
    this.#sendHead(outgoing, false);
    if (!(outgoing.body instanceof OutgoingStream)) this.#sendBody(outgoing.body);
    this.#end();
  }

  /** Closes the connection once everything is sent. */
  #end(): void {
    this.#state = 'ending';
    if (this.isFull) return;
    this.cutAtMs = this.#owner.nowMs + STALLED_MS;
    this.#socket.end();
  }
}

const NOTHING: Buffer = Buffer.alloc(0);
const CR = 13;
const LF = 10;
const DIGITS = Buffer.from('0123456789abcdef');

/** Writes the line that precedes a part of a body in chunks: its length. Byte by byte, because every token is sent this way. */
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

/** Returns the same bytes, not copied, as a Buffer. */
export function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Whether the client wants to send another request over the same connection. */
function wantsMore(head: RequestHead): boolean {
  const connection = head.get('connection')?.toLowerCase() ?? '';
  return head.isCurrent ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
}
