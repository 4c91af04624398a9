import { findLineEnd, findTokenEnd, HeaderLines } from './header-lines.ts';
import { ProtocolError } from './protocol-error.ts';

/** More than any client sends, cookies included. */
export const HEAD_BYTES_MAX = 16 * 1024;
const TARGET_BYTES_MAX = 8 * 1024;
const HEADERS_MAX = 100;
const POST = Buffer.from('POST');
const CURRENT = Buffer.from(' HTTP/1.1');
const OLD = Buffer.from(' HTTP/1.0');
const SPACE = 32;
const DELETE = 127;

/** The head of a request. */
export class RequestHead {
  readonly method: string;
  readonly target: string;
  /** False for HTTP/1.0. */
  readonly isCurrent: boolean;
  readonly lines: HeaderLines;

  private constructor({ method, target, isCurrent }: RequestLine, lines: HeaderLines) {
    this.method = method;
    this.target = target;
    this.isCurrent = isCurrent;
    this.lines = lines;
  }

  /** Reads the head at this position; undefined while it is incomplete. Throws a ProtocolError when it is not valid HTTP/1. */
  static read(bytes: Buffer, start: number): RequestHead | undefined {
    const lineEnd = findLineEnd(bytes, start);
    if (lineEnd === -1) return undefined;
    const line = readRequestLine(bytes, start, lineEnd);
    const lines = HeaderLines.read(bytes, lineEnd + 2, HEADERS_MAX);
    return lines === undefined ? undefined : new RequestHead(line, lines);
  }

  /** Returns a header; null without one, as standard headers do. */
  get(name: string): string | null {
    return this.lines.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.lines.count(name) > 0;
  }
}

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly isCurrent: boolean;
}

function readRequestLine(bytes: Buffer, start: number, end: number): RequestLine {
  const methodEnd = findTokenEnd(bytes, start, end);
  const targetEnd = findTargetEnd(bytes, methodEnd + 1, end);
  const isCurrent = isAt(CURRENT, bytes, targetEnd, end);
  const isWellFormed = methodEnd > start && bytes[methodEnd] === SPACE && targetEnd > methodEnd + 1;
  if (!isWellFormed || (!isCurrent && !isAt(OLD, bytes, targetEnd, end)))
    throw new ProtocolError('The first line is not that of an HTTP/1.1 request');
  if (targetEnd - methodEnd > TARGET_BYTES_MAX) throw new ProtocolError('The URL is too long');
  return {
    method: isAt(POST, bytes, start, methodEnd) ? 'POST' : bytes.toString('latin1', start, methodEnd),
    target: bytes.toString('latin1', methodEnd + 1, targetEnd),
    isCurrent,
  };
}

/** Whether these bytes are exactly a text. Compared in a loop, so that none has to be made of them. */
function isAt(expected: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== expected.length) return false;
  for (let at = 0; at < expected.length; at += 1) if (bytes[start + at] !== expected[at]) return false;
  return true;
}

/** A URL has only visible ASCII characters. */
function findTargetEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at] ?? 0; at < end && byte > SPACE && byte < DELETE; byte = bytes[at] ?? 0) at += 1;
  return at;
}
