import { findLineEnd, findTokenEnd, HeaderLines } from './header-lines.ts';
import { ProtocolError } from './protocol-error.ts';

/** More than any client sends, cookies included. */
export const HEAD_BYTES_MAX = 16 * 1024;
const TARGET_BYTES_MAX = 8 * 1024;
const HEADERS_MAX = 100;
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
  const version = bytes.toString('latin1', targetEnd, end);
  const isWellFormed = methodEnd > start && bytes[methodEnd] === SPACE && targetEnd > methodEnd + 1;
  if (!isWellFormed || (version !== ' HTTP/1.1' && version !== ' HTTP/1.0'))
    throw new ProtocolError('The first line is not that of an HTTP/1.1 request');
  if (targetEnd - methodEnd > TARGET_BYTES_MAX) throw new ProtocolError('The URL is too long');
  return {
    method: bytes.toString('latin1', start, methodEnd),
    target: bytes.toString('latin1', methodEnd + 1, targetEnd),
    isCurrent: version === ' HTTP/1.1',
  };
}

/** A URL has only visible ASCII characters. */
function findTargetEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at] ?? 0; at < end && byte > SPACE && byte < DELETE; byte = bytes[at] ?? 0) at += 1;
  return at;
}
