import { connect } from 'node:net';
import type { JsonObject } from '../../simulator/wire.ts';
import type { SiteKey } from './site.ts';

/** What a caller received of one answer, and whether it saw the end. */
export interface Asked {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The body, as far as it arrived. */
  readonly text: string;
  /** True when the answer arrived completely: to its last byte, its last chunk, or the `[DONE]` at which clients stop reading. */
  readonly isWhole: boolean;
  /** When the caller left on purpose. */
  readonly leftAtMs: number | undefined;
}

/** When the caller leaves on purpose: after this many bytes of the answer, after this long, or when this text has arrived. */
export interface Leave {
  readonly afterBytes?: number;
  readonly afterMs?: number;
  readonly afterText?: string;
}

const WITHIN_MS = 60_000;

/**
 * Sends one chat request over a connection of its own and reads until the answer ends, the server closes, or the caller
 * leaves. Uses no HTTP client, because one that retries by itself would spoil the count.
 */
export function ask(origin: string, key: SiteKey, body: JsonObject, leave: Leave = {}): Promise<Asked> {
  const { promise, resolve, reject } = Promise.withResolvers<Asked>();
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const received: Buffer[] = [];
  let receivedBytes = 0;
  let leftAtMs: number | undefined;

  const timer = setTimeout(() => {
    reject(new Error(`no end of the answer within ${WITHIN_MS} ms; so far: ${Buffer.concat(received).toString().slice(0, 2000)}`));
    socket.destroy();
  }, WITHIN_MS);
  const disconnect = (): void => {
    leftAtMs ??= performance.now();
    socket.destroy();
  };
  const leaveTimer = leave.afterMs === undefined ? undefined : setTimeout(disconnect, leave.afterMs);
  socket.on('connect', () => socket.write(encodeRequest(key, body)));
  socket.on('data', (bytes: Buffer) => {
    if (leftAtMs !== undefined) return;
    received.push(bytes);
    receivedBytes += bytes.length;
    const isEnough = receivedBytes >= (leave.afterBytes ?? Number.POSITIVE_INFINITY);
    if (isEnough || (leave.afterText !== undefined && Buffer.concat(received).includes(leave.afterText))) disconnect();
    else if (isEnd(bytes, received) && readAnswer(Buffer.concat(received)).isWhole) socket.destroy();
  });
  // A refused connection and a reset are treated like any other end: 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(timer);
    clearTimeout(leaveTimer);
    resolve({ ...readAnswer(Buffer.concat(received)), leftAtMs });
  });
  return promise;
}

/** Returns whether the caller has everything: a JSON body with its usage, or a stream with its `[DONE]`. */
export function isFinished({ status, isWhole, text }: Asked): boolean {
  return status === 200 && isWhole && (text.startsWith('{') || text.endsWith(DONE));
}

/** Returns the code of a refusal, or of the error event that ended a stream. */
export function errorCodeOf({ text }: Asked): string | undefined {
  const last = text.startsWith('{') ? text : text.split('\n\n').findLast((event) => event.startsWith('data: {'));
  try {
    const { error } = JSON.parse((last ?? '').replace(/^data: /u, '')) as { error?: { code?: string } };
    return error?.code;
  } catch {
    // Half an answer has no error to read.
    return undefined;
  }
}

function encodeRequest(key: SiteKey, body: JsonObject): string {
  const text = JSON.stringify(body);
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: gate',
    `authorization: Bearer ${key.secret}`,
    'content-type: application/json',
  ];
  return [...head, `content-length: ${Buffer.byteLength(text)}`, 'connection: close', '', text].join('\r\n');
}

/** Looks for the end only where it may be, because each look reads everything again. */
function isEnd(bytes: Buffer, received: readonly Buffer[]): boolean {
  return received.length === 1 || bytes.at(-1) === NEWLINE || bytes.at(-1) === CLOSING_BRACE;
}

const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;

function readAnswer(bytes: Buffer): Omit<Asked, 'leftAtMs'> {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return { status: undefined, requestId: undefined, text: '', isWhole: false };
  const head = bytes.toString('latin1', 0, headEnd);
  const field = (name: string): string | undefined => new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'iu').exec(head)?.[1];
  const body = bytes.subarray(headEnd + 4);
  const length = field('content-length');
  const read = length === undefined ? readChunks(body) : { text: body.toString('utf8'), isWhole: body.length >= Number(length) };
  return { status: Number(head.slice(9, 12)), requestId: field('x-request-id'), ...read };
}

const DONE = 'data: [DONE]\n\n';

function readChunks(body: Buffer): { text: string; isWhole: boolean } {
  const parts: Buffer[] = [];
  for (let position = 0; ;) {
    const lineEnd = body.indexOf('\r\n', position);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(body.toString('latin1', position, lineEnd), 16);
    if (size === 0 || Number.isNaN(size)) {
      const text = Buffer.concat(parts).toString('utf8');
      return { text, isWhole: size === 0 || text.endsWith(DONE) };
    }
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    position = lineEnd + 2 + size + 2;
  }
}
