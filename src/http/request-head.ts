import { ProtocolError } from './protocol-error.ts';

/** More than any client sends, cookies included. */
export const HEAD_BYTES_MAX = 16 * 1024;
const TARGET_BYTES_MAX = 8 * 1024;
const HEADERS_MAX = 100;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const CASE_BIT = 32;

/** The kinds of characters: those of names and methods, of targets, and of values. */
const IN_TOKEN = 1;
const IN_TARGET = 2;
const IN_VALUE = 4;
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const isToken = /[!#$%&'*+\-.^_`|~\dA-Za-z]/.test(String.fromCharCode(code));
  const isVisible = code > SPACE && code < 127;
  // Bytes beyond ASCII occur in values, where old clients put Latin-1 or UTF-8.
  const isValue = isVisible || code === SPACE || code === TAB || code > 127;
  return (isToken ? IN_TOKEN : 0) + (isVisible ? IN_TARGET : 0) + (isValue ? IN_VALUE : 0);
});

/** The names that were looked up, as bytes. They come from our own code, so there are few. */
const names = new Map<string, Buffer>();

/** A header's place in the head: where its name begins and ends, and its value. */
const PLACES = 4;

/**
 * The head of a request, checked byte by byte and kept as it came: of a dozen headers, only the few that somebody asks for become text.
 * It is as strict as the grammar, because a proxy in front that reads a head differently would see other requests than we do: lines end
 * with CR and LF, no line continues another, and no space precedes a colon.
 */
export class RequestHead {
  readonly #bytes: Buffer;
  /** `PLACES` numbers for each header. */
  readonly #places: readonly number[];
  readonly method: string;
  readonly target: string;
  /** False for HTTP/1.0. */
  readonly isCurrent: boolean;

  private constructor(bytes: Buffer, places: readonly number[], line: RequestLine) {
    this.#bytes = bytes;
    this.#places = places;
    this.method = line.method;
    this.target = line.target;
    this.isCurrent = line.isCurrent;
  }

  /** Reads the head at this position; undefined while it is incomplete. Throws a ProtocolError when it is not valid HTTP/1. */
  static read(bytes: Buffer, start: number): { readonly head: RequestHead; readonly end: number } | undefined {
    const lineEnd = findLineEnd(bytes, start);
    if (lineEnd === -1) return undefined;
    const line = readRequestLine(bytes, start, lineEnd);
    const places: number[] = [];
    for (let at = lineEnd + 2; ;) {
      const end = findLineEnd(bytes, at);
      if (end === -1) return undefined;
      if (end === at) return { head: new RequestHead(bytes, places, line), end: end + 2 };
      if (places.length >= HEADERS_MAX * PLACES) throw new ProtocolError(`There are more than ${HEADERS_MAX} headers`);
      placeHeader(bytes, at, end, places);
      at = end + 2;
    }
  }

  /** Returns a header, and null without one. A repeated header is joined with commas. The name is in lower case. */
  get(name: string): string | null {
    let found: string | null = null;
    for (let at = this.#find(name, 0); at !== -1; at = this.#find(name, at + PLACES)) {
      const value = this.#text(at + 2);
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  /** Whether a header was sent. The name is in lower case. */
  has(name: string): boolean {
    return this.#find(name, 0) !== -1;
  }

  /** How often a header was sent. */
  count(name: string): number {
    let count = 0;
    for (let at = this.#find(name, 0); at !== -1; at = this.#find(name, at + PLACES)) count += 1;
    return count;
  }

  /** Lists all headers. */
  entries(): [name: string, value: string][] {
    const entries: [string, string][] = [];
    for (let at = 0; at < this.#places.length; at += PLACES) entries.push([this.#text(at), this.#text(at + 2)]);
    return entries;
  }

  /** Returns the places of the next header with this name, from those of a header on. */
  #find(name: string, from: number): number {
    const wanted = bytesOf(name);
    const { length } = wanted;
    const places = this.#places;
    for (let at = from; at < places.length; at += PLACES) {
      const start = places[at] ?? 0;
      if ((places[at + 1] ?? 0) - start === length && isSameName(this.#bytes, start, wanted)) return at;
    }
    return -1;
  }

  #text(place: number): string {
    return this.#bytes.toString('latin1', this.#places[place] ?? 0, this.#places[place + 1] ?? 0);
  }
}

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly isCurrent: boolean;
}

/** Returns where the line ends, and -1 while its end has not arrived. */
function findLineEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  for (let at = start; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === LF) throw new ProtocolError('A line does not end with CR and LF');
    if (byte !== CR) continue;
    if (at + 1 === length) return -1;
    if (bytes[at + 1] !== LF) throw new ProtocolError('A line does not end with CR and LF');
    return at;
  }
  return -1;
}

function readRequestLine(bytes: Buffer, start: number, end: number): RequestLine {
  const methodEnd = endOf(IN_TOKEN, bytes, start, end);
  const targetEnd = endOf(IN_TARGET, bytes, methodEnd + 1, end);
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

/** Appends the places of the header in this line. */
function placeHeader(bytes: Buffer, start: number, end: number, places: number[]): void {
  const nameEnd = endOf(IN_TOKEN, bytes, start, end);
  if (nameEnd === start || bytes[nameEnd] !== COLON) throw new ProtocolError('A header has no valid name');
  let from = nameEnd + 1;
  if (endOf(IN_VALUE, bytes, from, end) !== end) throw new ProtocolError('A header has a value with control characters');
  while (from < end && isBlank(bytes[from])) from += 1;
  let to = end;
  while (to > from && isBlank(bytes[to - 1])) to -= 1;
  places.push(start, nameEnd, from, to);
}

function endOf(kind: number, bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && ((KINDS[bytes[at] ?? 0] ?? 0) & kind) !== 0) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function bytesOf(name: string): Buffer {
  let bytes = names.get(name);
  if (bytes === undefined) {
    bytes = Buffer.from(name, 'latin1');
    names.set(name, bytes);
  }
  return bytes;
}

/** Compares without regard to case. Names consist of letters, digits and signs; of the signs we look up, none differs in that bit only. */
function isSameName(bytes: Buffer, start: number, wanted: Buffer): boolean {
  const { length } = wanted;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[start + at] ?? 0;
    if (byte !== wanted[at] && (byte | CASE_BIT) !== wanted[at]) return false;
  }
  return true;
}
