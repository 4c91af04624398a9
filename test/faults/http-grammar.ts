import type { Buffer } from 'node:buffer';

/** How a byte sequence classifies under the HTTP/1.1 grammar, decided before it is sent. */
export interface RequestClass {
  /**
   * `http` is a request that every HTTP/1.1 server must understand. The others may be rejected by the runtime's own
   * parser before our code runs: `not_http` breaks the grammar, `oversized` exceeds the runtime's limit for a head,
   * `unknown_method` has a method that does not exist.
   */
  readonly kind: 'http' | 'not_http' | 'oversized' | 'unknown_method';
  /** True when the head and the announced body are complete. Otherwise the sender cuts the connection. */
  readonly isComplete: boolean;
  readonly method: string;
}

interface Head {
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
}

const HEAD_BYTES_MAX = 16_000;
const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']);
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+) ((?:http:\/\/[\w.:-]+)?\/[\x21-\x7e]*) HTTP\/1\.1$/u;
const HEADER_LINE =
  /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[ \t\x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*$/u;

/** Classifies the bytes of one request, cut or complete. */
export function classifyRequest(bytes: Buffer): RequestClass {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return { kind: 'not_http', isComplete: false, method: '' };
  const head = parseHead(bytes.toString('latin1', 0, headEnd));
  if (head === undefined) return { kind: 'not_http', isComplete: false, method: '' };
  const { method } = head;
  if (headEnd > HEAD_BYTES_MAX) return { kind: 'oversized', isComplete: false, method };
  if (!METHODS.has(method)) return { kind: 'unknown_method', isComplete: false, method };
  const lengths = valuesOf(head, 'content-length');
  const codings = valuesOf(head, 'transfer-encoding');
  const isFramed = lengths.length + codings.length <= 1 && lengths.every(isLength) && codings.every(isChunked);
  const isHttp = isFramed && valuesOf(head, 'host').length === 1 && valuesOf(head, 'host').every(isHost);
  const body = bytes.subarray(headEnd + 4);
  const isComplete = codings.length > 0 ? body.toString('latin1').endsWith('0\r\n\r\n') : body.length >= Number(lengths[0] ?? 0);
  return { kind: isHttp ? 'http' : 'not_http', isComplete: isHttp && isComplete, method };
}

function parseHead(text: string): Head | undefined {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const request = REQUEST_LINE.exec(requestLine);
  const fields = lines.map((line) => HEADER_LINE.exec(line));
  if (request === null || !fields.every((field) => field !== null)) return undefined;
  return { method: request[1] ?? '', headers: fields.map((field) => [(field[1] ?? '').toLowerCase(), field[2] ?? '']) };
}

function valuesOf(head: Head, name: string): string[] {
  return head.headers.filter((header) => header[0] === name).map((header) => header[1]);
}

function isLength(value: string): boolean {
  return /^\d{1,15}$/u.test(value);
}

function isChunked(value: string): boolean {
  return value.toLowerCase() === 'chunked';
}

function isHost(value: string): boolean {
  return /^[A-Za-z\d.-]+(:\d{1,5})?$/u.test(value);
}
