import { isTokenByte } from './header-lines.ts';
import { ProtocolError } from './protocol-error.ts';

/** Chunks of more than 4 GiB are a mistake or an attack. */
const SIZE_DIGITS_MAX = 8;
const EXTENSION_BYTES_MAX = 4096;
const TRAILER_BYTES_MAX = 16 * 1024;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const SEMICOLON = 59;
const DELETE = 127;

/** The states: what the next byte is part of. */
const SIZE = 0;
const SIZE_BLANK = 1;
const EXTENSION = 2;
const SIZE_LF = 3;
const DATA = 4;
const DATA_CR = 5;
const DATA_LF = 6;
const TRAILER_START = 7;
const TRAILER_NAME = 8;
const TRAILER = 9;
const TRAILER_LF = 10;
const END_LF = 11;
const OVER = 12;

/** Removes the framing from a chunked body, byte by byte where it must and chunk by chunk where it can. */
export class ChunkReader {
  /** The body's part of the last packet. */
  start = 0;
  end = 0;
  /** The number of bytes in the last packet after the end of the body. */
  excessBytes = 0;
  #state = SIZE;
  #size = 0;
  #digits = 0;
  /** The number of bytes skipped so far of the current extension or trailers. */
  #ignoredBytes = 0;

  get isOver(): boolean {
    return this.#state === OVER;
  }

  /** Finds the body bytes in a packet. Several chunks are moved together in place, so that one packet stays one piece. */
  read(bytes: Uint8Array): void {
    let start = 0;
    let end = 0;
    let at = 0;
    while (at < bytes.length && this.#state !== OVER) {
      if (this.#state !== DATA) {
        this.#step(bytes[at] ?? 0);
        at += 1;
        continue;
      }
      const taken = Math.min(this.#size, bytes.length - at);
      if (end === 0) start = end = at;
      else bytes.copyWithin(end, at, at + taken);
      end += taken;
      at += taken;
      this.#size -= taken;
      if (this.#size === 0) this.#state = DATA_CR;
    }
    this.excessBytes = bytes.length - at;
    this.start = start;
    this.end = end;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case SIZE:
        return this.#stepSize(byte);
      case SIZE_BLANK:
        return this.#stepBlank(byte);
      case EXTENSION:
        return this.#ignore(byte, SIZE_LF, EXTENSION_BYTES_MAX);
      case SIZE_LF:
        return this.#expect(byte, LF, this.#size === 0 ? TRAILER_START : DATA);
      case DATA_CR:
        return this.#expect(byte, CR, DATA_LF);
      case DATA_LF:
        this.#digits = this.#ignoredBytes = 0;
        return this.#expect(byte, LF, SIZE);
      case TRAILER_START:
        this.#state = byte === CR ? END_LF : TRAILER_NAME;
        return byte === CR ? undefined : this.#stepTrailerName(byte);
      case TRAILER_NAME:
        return this.#stepTrailerName(byte);
      case TRAILER:
        return this.#ignore(byte, TRAILER_LF, TRAILER_BYTES_MAX);
      case TRAILER_LF:
        return this.#expect(byte, LF, TRAILER_START);
      case END_LF:
        return this.#expect(byte, LF, OVER);
      default:
        throw new ProtocolError('A chunk is in an unknown state');
    }
  }

  #stepSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1 && this.#digits < SIZE_DIGITS_MAX) {
      this.#size = this.#size * 16 + digit;
      this.#digits += 1;
    } else if (this.#digits > 0) {
      this.#stepBlank(byte);
    } else {
      throw new ProtocolError('A chunk has no size');
    }
  }

  /** Some servers pad the size with spaces. */
  #stepBlank(byte: number): void {
    if (byte !== SEMICOLON && byte !== SPACE && byte !== TAB && byte !== CR) throw new ProtocolError('A chunk has no valid size');
    this.#state = byte === SEMICOLON ? EXTENSION : SIZE_BLANK;
    this.#ignore(byte, SIZE_LF, EXTENSION_BYTES_MAX);
  }

  #stepTrailerName(byte: number): void {
    if (byte !== COLON && !isTokenByte(byte)) throw new ProtocolError('A trailer has no valid name');
    this.#ignore(byte, TRAILER_LF, TRAILER_BYTES_MAX);
    if (byte === COLON) this.#state = TRAILER;
  }

  /** Skips a line that has no meaning to us, up to its end and within its limit. */
  #ignore(byte: number, next: number, bytesMax: number): void {
    this.#ignoredBytes += 1;
    if (this.#ignoredBytes > bytesMax) throw new ProtocolError('A line between chunks is not terminated');
    if (byte === CR) this.#state = next;
    else if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw new ProtocolError('A line between chunks has a control character');
  }

  #expect(byte: number, expected: number, next: number): void {
    if (byte !== expected) throw new ProtocolError('A chunk does not end where it should');
    this.#state = next;
  }
}

/** Returns the value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
