import { ProtocolError } from './protocol-error.ts';

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;
const COLON = 58;
const CASE_BIT = 32;

/** The characters of names, by code. */
const IS_TOKEN = Uint8Array.from({ length: 256 }, (_, code) => (/[!#$%&'*+\-.^_`|~\dA-Za-z]/.test(String.fromCharCode(code)) ? 1 : 0));

/** A header takes four numbers: where its name begins and ends, and its value. */
const PLACES = 4;

/** Where the places of the headers in progress are gathered: a list that grows with each of them would be copied again and again. */
const gathered: number[] = [];

/** The names that were looked up, as bytes. They come from our own code, so there are few. */
const names = new Map<string, Buffer>();

/**
 * The headers of a request or a response, checked byte by byte and kept as they came: of a dozen, only the few that somebody asks for
 * become text. They are read as strictly as the grammar is, because a proxy that reads them differently would see other requests than we
 * do: lines end with CR and LF, none continues another, and no space precedes a colon.
 */
export class HeaderLines {
  readonly #bytes: Buffer;
  readonly #places: readonly number[];
  /** Where the empty line behind them ends. */
  readonly end: number;

  private constructor(bytes: Buffer, places: readonly number[], end: number) {
    this.#bytes = bytes;
    this.#places = places;
    this.end = end;
  }

  /** Reads the headers from this position on; undefined while they are incomplete. Throws a ProtocolError when they are not valid. */
  static read(bytes: Buffer, start: number, countMax: number): HeaderLines | undefined {
    let count = 0;
    let at = start;
    for (;;) {
      const end = findLineEnd(bytes, at);
      if (end === -1) return undefined;
      if (end === at) return new HeaderLines(bytes, gathered.slice(0, count * PLACES), end + 2);
      if (count >= countMax) throw new ProtocolError(`There are more than ${countMax} headers`);
      placeHeader(bytes, at, end, count * PLACES);
      count += 1;
      at = end + 2;
    }
  }

  /** Returns a header; undefined without one. A repeated header is joined with commas. The name is in lower case. */
  get(name: string): string | undefined {
    let found: string | undefined;
    for (let at = this.#find(name, 0); at !== -1; at = this.#find(name, at + PLACES)) {
      const value = this.#text(at + 2);
      found = found === undefined ? value : `${found}, ${value}`;
    }
    return found;
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
    for (let at = 0; at < this.#places.length; at += PLACES) entries.push([this.#text(at).toLowerCase(), this.#text(at + 2)]);
    return entries;
  }

  /** Returns where the places of the next header with this name are, and -1 without one. */
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

/** Returns where the line ends, and -1 while its end has not arrived. */
export function findLineEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  for (let at = start; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    if ((byte >= SPACE && byte !== DELETE) || byte === TAB) continue;
    if (byte !== CR) throw new ProtocolError('A line has a control character');
    if (at + 1 === length) return -1;
    if (bytes[at + 1] !== LF) throw new ProtocolError('A line has a carriage return by itself');
    return at;
  }
  return -1;
}

/** Returns where the characters of a name or a method end. */
export function findTokenEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isTokenByte(bytes[at] ?? 0)) at += 1;
  return at;
}

/** Whether a name or a method may have this character. */
export function isTokenByte(byte: number): boolean {
  return IS_TOKEN[byte] === 1;
}

/** Gathers the places of the header in this line. */
function placeHeader(bytes: Buffer, start: number, end: number, at: number): void {
  const nameEnd = findTokenEnd(bytes, start, end);
  if (nameEnd === start || bytes[nameEnd] !== COLON) throw new ProtocolError('A header has no valid name');
  let from = nameEnd + 1;
  while (from < end && isBlank(bytes[from])) from += 1;
  let to = end;
  while (to > from && isBlank(bytes[to - 1])) to -= 1;
  gathered[at] = start;
  gathered[at + 1] = nameEnd;
  gathered[at + 2] = from;
  gathered[at + 3] = to;
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

/** Compares without regard to case. Only letters of a name differ in that bit from a letter that we look up. */
function isSameName(bytes: Buffer, start: number, wanted: Buffer): boolean {
  const { length } = wanted;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[start + at] ?? 0;
    if (byte !== wanted[at] && (byte | CASE_BIT) !== wanted[at]) return false;
  }
  return true;
}
