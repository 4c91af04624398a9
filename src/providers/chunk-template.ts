import type { Outbox } from '../http/outbox.ts';
import type { OutputText } from './output-text.ts';

/** What differs from one event of a stream to the next. */
export interface Gaps {
  /** The field that carries the text, and the text. */
  readonly field: string;
  readonly text: string;
  /** A second field that carries the same text in the event to send. */
  readonly addedField?: string | undefined;
  /** The value of `obfuscation`: random characters with which OpenAI hides how long a token is. */
  readonly padding?: string | undefined;
}

/**
 * An event with a gap where its text goes. Nearly all events of a stream differ only in the few characters of a token.
 * Once one event has been parsed, patched and rewritten, the following ones are compared with it and sent byte by byte,
 * without becoming strings, which takes a fraction of the time.
 */
export class ChunkTemplate {
  /** The event as received, cut at its gaps. */
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #end: Buffer;
  readonly #isPadded: boolean;
  /** The event to send, cut at its gaps. */
  readonly #writtenBefore: Piece;
  readonly #writtenBetween: Piece | undefined;
  readonly #writtenAfter: Piece;
  readonly #writtenEnd: Piece;
  /** Where the gaps of the event that matched last are. */
  #textStart = 0;
  #textEnd = 0;
  #paddingStart = 0;
  #paddingEnd = 0;
  /** Its text as received, and what that stands for; undefined where the bytes stand for themselves. */
  #raw: string | undefined;
  #said: string | undefined;

  /** Makes a template from an event, as received and as rewritten. Returns undefined when the position of a gap is ambiguous. */
  static from(received: string, written: string, gaps: Gaps): ChunkTemplate | undefined {
    const { field, text, addedField, padding } = gaps;
    if (text === '') return undefined;
    const quoted = JSON.stringify(text);
    const last = padding === undefined ? [] : [['obfuscation', JSON.stringify(padding)] as const];
    const added = addedField === undefined ? [] : [[addedField, quoted] as const];
    const receivedPieces = cutAround(received, [[field, quoted], ...last]);
    const writtenPieces = cutAround(written, [[field, quoted], ...added, ...last]);
    if (receivedPieces === undefined || writtenPieces === undefined) return undefined;
    return new ChunkTemplate(receivedPieces, writtenPieces, addedField !== undefined);
  }

  private constructor(received: readonly Piece[], written: readonly Piece[], hasTextTwice: boolean) {
    const [before = NOTHING, after = NOTHING, end] = received;
    this.#before = viewOf(before);
    this.#after = viewOf(after);
    this.#end = viewOf(end ?? NOTHING);
    this.#isPadded = end !== undefined;
    const [writtenBefore = NOTHING, ...more] = written;
    this.#writtenBefore = writtenBefore;
    this.#writtenBetween = hasTextTwice ? more.shift() : undefined;
    const [writtenAfter = NOTHING, writtenEnd = NOTHING] = more;
    this.#writtenAfter = writtenAfter;
    this.#writtenEnd = writtenEnd;
  }

  /**
   * Returns where the event at this position ends, or its start when it does not match, is incomplete or has no text,
   * which may mean something else.
   */
  match(bytes: Buffer, start: number, end: number): number {
    if (!isAt(this.#before, bytes, start, end)) return start;
    const text = start + this.#before.length;
    const asciiEnd = endOfAscii(bytes, text, end);
    const isAscii = bytes[asciiEnd] === QUOTE;
    const close = isAscii ? asciiEnd : endOfString(bytes, asciiEnd, end);
    if (close === text || !isAt(this.#after, bytes, close, end)) return start;
    this.#paddingStart = close + this.#after.length;
    this.#paddingEnd = this.#isPadded ? endOfPlain(bytes, this.#paddingStart, end) : this.#paddingStart;
    if (!isAt(this.#end, bytes, this.#paddingEnd, end)) return start;
    this.#textStart = text;
    this.#textEnd = close;
    this.#raw = isAscii ? undefined : bytes.toString('utf8', text, close);
    this.#said = this.#raw?.includes('\\') === true ? unescape(this.#raw) : this.#raw;
    return this.#raw !== undefined && this.#said === undefined ? start : this.#paddingEnd + this.#end.length;
  }

  /** Adds the event that matched last to what is sent. Its text goes as it was received, with all its escapes. */
  write(bytes: Buffer, out: Outbox): void {
    addPiece(this.#writtenBefore, out);
    this.#writeText(bytes, out);
    if (this.#writtenBetween !== undefined) {
      addPiece(this.#writtenBetween, out);
      this.#writeText(bytes, out);
    }
    addPiece(this.#writtenAfter, out);
    if (!this.#isPadded) return;
    this.#writePadding(bytes, out);
    addPiece(this.#writtenEnd, out);
  }

  /** Adds the text of the event that matched last to the output of the stream. */
  tell(bytes: Buffer, output: OutputText): void {
    if (this.#said === undefined) output.addAscii(bytes, this.#textStart, this.#textEnd);
    else output.add(this.#said);
  }

  #writeText(bytes: Buffer, out: Outbox): void {
    if (this.#raw === undefined) out.addBytes(bytes, this.#textStart, this.#textEnd);
    else out.addText(this.#raw);
  }

  #writePadding(bytes: Buffer, out: Outbox): void {
    const end = this.#paddingEnd;
    if (endOfAscii(bytes, this.#paddingStart, end) === end) out.addBytes(bytes, this.#paddingStart, end);
    else out.addText(bytes.toString('utf8', this.#paddingStart, end));
  }
}

/** A part of an event, between its gaps. The event stays in one piece, because each call that cuts it takes time. */
interface Piece {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

const NOTHING: Piece = { bytes: Buffer.alloc(0), start: 0, end: 0 };

/** Returns a piece as bytes of its own: a loop over all of a buffer needs no check of its bounds. */
function viewOf({ bytes, start, end }: Piece): Buffer {
  return bytes.subarray(start, end);
}

function addPiece({ bytes, start, end }: Piece, out: Outbox): void {
  out.addBytes(bytes, start, end);
}

/** Cuts an event around the values of these fields, inside their quotes. Returns undefined unless each field occurs once more, in this order. */
function cutAround(text: string, fields: readonly (readonly [name: string, value: string])[]): Piece[] | undefined {
  const bytes = Buffer.from(text);
  const pieces: Piece[] = [];
  let start = 0;
  for (const [name, value] of fields) {
    const end = endOfField(text, start, `"${name}":`, value);
    if (end === -1) return undefined;
    pieces.push({ bytes, start: placeOf(text, start, bytes), end: placeOf(text, end - value.length + 1, bytes) });
    start = end - 1;
  }
  return [...pieces, { bytes, start: placeOf(text, start, bytes), end: bytes.length }];
}

/** Returns where the only field with this value ends, or -1. */
function endOfField(text: string, start: number, name: string, value: string): number {
  let field = name + value;
  let at = text.indexOf(field, start);
  if (at === -1) {
    field = `${name} ${value}`;
    at = text.indexOf(field, start);
  }
  return at === -1 || text.includes(field, at + 1) ? -1 : at + field.length;
}

/** Returns where a character is in the bytes of its text. */
function placeOf(text: string, at: number, bytes: Buffer): number {
  return text.length === bytes.length ? at : Buffer.byteLength(text.slice(0, at));
}

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const ASCII_END = 128;

/**
 * Returns where the ASCII text that stands for itself ends. Text with anything else is made a string, because its bytes may be
 * no valid UTF-8, and nothing invalid is sent.
 */
function endOfAscii(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at]; at < end && byte !== undefined && isPlain(byte) && byte < ASCII_END; byte = bytes[at]) at += 1;
  return at;
}

/** Returns where the string ends that this is a part of: at its closing quote, or at a character that no string contains. */
function endOfString(bytes: Buffer, start: number, end: number): number {
  let at = endOfPlain(bytes, start, end);
  while (at < end && bytes[at] === BACKSLASH) at = endOfPlain(bytes, at + 2, end);
  return at;
}

/** Returns where the text that stands for itself ends: at a quote, an escape or a control character. */
function endOfPlain(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at]; at < end && byte !== undefined && isPlain(byte); byte = bytes[at]) at += 1;
  return at;
}

function isPlain(byte: number): boolean {
  return byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH;
}

/** Compares in a loop: compiled, it takes less time than the call of `Buffer.compare` does, whose code is not in the caches. */
function isAt(expected: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const { length } = expected;
  if (start + length > end) return false;
  let difference = 0;
  for (let at = 0; at < length; at += 1) difference |= (bytes[start + at] ?? 0) ^ (expected[at] ?? 0);
  return difference === 0;
}

/** Returns what a string in JSON stands for, or undefined when it has an escape that JSON does not know. */
function unescape(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
