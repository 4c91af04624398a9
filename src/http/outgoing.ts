import { OutgoingStream } from './outgoing-stream.ts';

/** A response, ready to be written. */
export interface Outgoing {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | OutgoingStream;
}

/** What a head tells besides the response's own headers. */
interface Framing {
  readonly date: string;
  /** True when the connection is closed after the response. */
  readonly isLast: boolean;
  /** True when the client understands a body in chunks. A client of HTTP/1.0 reads until the connection is closed. */
  readonly isChunked: boolean;
}

/** The most common reasons. Others stay empty, as they may. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Writes the head of a response. A header that could begin a new line is refused. */
export function writeHead({ status, headers, body }: Outgoing, { date, isLast, isChunked }: Framing): string {
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\ndate: ${date}\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (typeof value === 'string') head = addHeader(head, name, value);
    else for (const each of value) head = addHeader(head, name, each);
  }
  if (headers['connection'] === undefined) head += writeConnection(isLast, isChunked, body);
  return `${head}${writeFraming(status, body, isChunked)}\r\n`;
}

/** Joins all at once: each string in between would be an object of its own. */
function addHeader(head: string, name: string, value: string): string {
  if (!HEADER_VALUE.test(value)) throw new TypeError(`The header '${name}' cannot be sent`);
  return `${head}${name}: ${value}\r\n`;
}

/** A client of HTTP/1.0 expects the connection to be closed unless it is told otherwise. */
function writeConnection(isLast: boolean, isCurrent: boolean, body: Outgoing['body']): string {
  if (isLast) return 'connection: close\r\n';
  return isCurrent || body instanceof OutgoingStream ? '' : 'connection: keep-alive\r\n';
}

function writeFraming(status: number, body: Outgoing['body'], isChunked: boolean): string {
  if (body instanceof OutgoingStream) return isChunked ? 'transfer-encoding: chunked\r\n' : '';
  if (status === 204 || status === 304) return '';
  return `content-length: ${typeof body === 'string' ? Buffer.byteLength(body) : body.length}\r\n`;
}
