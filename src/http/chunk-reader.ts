import { ProtocolError } from './protocol-error.ts';

/** More than four thousand million bytes in one chunk is a mistake or an attack. */
const SIZE_DIGITS_MAX = 8;
const EXTENSION_BYTES_MAX = 4096;
const TRAILER_BYTES_MAX = 16 * 1024;

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const BLANK = 32;
const TAB = 9;

/** Where in the framing the next byte stands. */
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

/** Takes the framing out of a chunked body, byte by byte where it must and chunk by chunk where it can. */
export class ChunkReader {
  /** Where in the last packet its part of the body stands. */
  start = 0;
  end = 0;
  /** The bytes of the last packet that came after the end of the body. */
  excessBytes = 0;
  #state = SIZE;
  #size = 0;
  #digits = 0;
  /** Bytes of the extension or of the trailers that is being passed over. */
  #ignoredBytes = 0;

  get isOver(): boolean {
    return this.#state === OVER;
  }

  /** Finds the body that is in these bytes: several chunks are moved together in place, so that one packet stays one piece. */
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
        throw new ProtocolError('A chunk has no line here');
    }
  }

  #stepSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1 && this.#digits < SIZE_DIGITS_MAX) {
      this.#size = this.#size * 16 + digit;
      this.#digits += 1;
    } else if (this.#digits > 0 && byte === CR) {
      this.#state = SIZE_LF;
    } else if (this.#digits > 0 && (byte === SEMICOLON || byte === BLANK || byte === TAB)) {
      this.#state = EXTENSION;
    } else {
      throw new ProtocolError('A chunk has no size');
    }
  }

  /** Passes over a line that means nothing to us, up to its end and not beyond all bounds. */
  #ignore(byte: number, next: number, bytesMax: number): void {
    this.#ignoredBytes += 1;
    if (byte === LF || this.#ignoredBytes > bytesMax) throw new ProtocolError('A line between chunks has no end');
    if (byte === CR) this.#state = next;
  }

  #expect(byte: number, expected: number, next: number): void {
    if (byte !== expected) throw new ProtocolError('A chunk does not end where it should');
    this.#state = next;
  }
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const small = byte | 32;
  return small >= 97 && small <= 102 ? small - 87 : -1;
}
