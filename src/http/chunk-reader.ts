import { ProtocolError } from './protocol-error.ts';

/** Chunks of more than 4 GiB are a mistake or an attack. */
const SIZE_DIGITS_MAX = 8;
const EXTENSION_BYTES_MAX = 4096;
const TRAILER_BYTES_MAX = 16 * 1024;

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const SPACE = 32;
const TAB = 9;

/** The states: what the next byte is part of. */
const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER_START = 6;
const TRAILER = 7;
const TRAILER_LF = 8;
const END_LF = 9;
const OVER = 10;

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
        this.#state = byte === CR ? END_LF : TRAILER;
        return byte === CR ? undefined : this.#ignore(byte, TRAILER_LF, TRAILER_BYTES_MAX);
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
    } else if (this.#digits > 0 && byte === CR) {
      this.#state = SIZE_LF;
    } else if (this.#digits > 0 && (byte === SEMICOLON || byte === SPACE || byte === TAB)) {
      this.#state = EXTENSION;
    } else {
      throw new ProtocolError('A chunk has no size');
    }
  }

  /** Skips a line that has no meaning to us, up to its end and within its limit. */
  #ignore(byte: number, next: number, bytesMax: number): void {
    this.#ignoredBytes += 1;
    if (byte === LF || this.#ignoredBytes > bytesMax) throw new ProtocolError('A line between chunks is not terminated');
    if (byte === CR) this.#state = next;
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
