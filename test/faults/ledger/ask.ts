import { connect } from 'node:net';
import type { JsonObject } from '../../simulator/wire.ts';
import type { SiteKey } from './site.ts';

/** What a caller got of one answer, and whether it saw its end. */
export interface Asked {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The body, as far as it came. */
  readonly text: string;
  /** True when the whole answer came: to its last byte, its last chunk, or the `[DONE]` at which clients stop to read. */
  readonly isWhole: boolean;
  /** When the caller left by its own will. */
  readonly leftAtMs: number | undefined;
}

/** When the caller leaves of its own will: after so many bytes of the answer, after so long, or when this has come. */
export interface Leave {
  readonly afterBytes?: number;
  readonly afterMs?: number;
  readonly afterText?: string;
}

const WITHIN_MS = 60_000;

/**
 * Sends one chat request over a connection of its own and reads until the answer ends, the server goes, or the caller
 * leaves. No HTTP client in between: one that repeats a request by itself would spoil the count.
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
  const goAway = (): void => {
    leftAtMs ??= performance.now();
    socket.destroy();
  };
  const leaveTimer = leave.afterMs === undefined ? undefined : setTimeout(goAway, leave.afterMs);
  socket.on('connect', () => socket.write(encodeRequest(key, body)));
  socket.on('data', (bytes: Buffer) => {
    if (leftAtMs !== undefined) return;
    received.push(bytes);
    receivedBytes += bytes.length;
    const isEnough = receivedBytes >= (leave.afterBytes ?? Number.POSITIVE_INFINITY);
    if (isEnough || (leave.afterText !== undefined && Buffer.concat(received).includes(leave.afterText))) goAway();
    else if (isEnd(bytes, received) && readAnswer(Buffer.concat(received)).isWhole) socket.destroy();
  });
  // A refused connection and a reset are ends like others: 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(timer);
    clearTimeout(leaveTimer);
    resolve({ ...readAnswer(Buffer.concat(received)), leftAtMs });
  });
  return promise;
}

/** True when the caller has everything: a JSON body with its usage, or a stream with its `[DONE]`. */
export function isFinished({ status, isWhole, text }: Asked): boolean {
  return status === 200 && isWhole && (text.startsWith('{') || text.endsWith(DONE));
}

/** The code of a refusal, or of the error event that ended a stream. */
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

/** Looks closer only where the end may be, since the whole is read again each time. */
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
