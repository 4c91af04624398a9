/** An event that was taken without parsing it: its text, the event to send in its place, and where it ended. */
export interface Token {
  readonly text: string;
  readonly written: string;
  readonly end: number;
}

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
 * Once one event has been parsed, patched and rewritten, the following ones are compared with it byte by byte, which
 * takes a third of the time.
 */
export class ChunkTemplate {
  /** What surrounds the gaps. */
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #afterPadding: Buffer | undefined;
  /** The event to send, cut at its gaps. */
  readonly #writtenBefore: string;
  readonly #writtenAfter: string;
  readonly #writtenMore: readonly string[];
  readonly #hasTextTwice: boolean;

  /** Makes a template from an event, as received and as rewritten. Returns undefined when the position of a gap is ambiguous. */
  static from(received: string, written: string, gaps: Gaps): ChunkTemplate | undefined {
    const { field, text, addedField, padding } = gaps;
    if (text === '') return undefined;
    const last = padding === undefined ? [] : [['obfuscation', padding] as const];
    const added = addedField === undefined ? [] : [[addedField, text] as const];
    const receivedPieces = cutAround(received, [[field, text], ...last]);
    const writtenPieces = cutAround(written, [[field, text], ...added, ...last]);
    if (receivedPieces === undefined || writtenPieces === undefined) return undefined;
    return new ChunkTemplate(receivedPieces, writtenPieces, addedField !== undefined);
  }

  private constructor([before = '', after = '', end]: readonly string[], written: readonly string[], hasTextTwice: boolean) {
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
    this.#afterPadding = end === undefined ? undefined : Buffer.from(end);
    const [writtenBefore = '', writtenAfter = '', ...more] = written.map(flatten);
    this.#writtenBefore = writtenBefore;
    this.#writtenAfter = writtenAfter;
    this.#writtenMore = more;
    this.#hasTextTwice = hasTextTwice;
  }

  /**
   * Takes the event at this position. Returns undefined when it does not match, is incomplete or has no text, which may
   * mean something else.
   */
  match(bytes: Buffer, start: number, end: number): Token | undefined {
    if (!isAt(this.#before, bytes, start, end)) return undefined;
    const gap = start + this.#before.length;
    const plainEnd = endOfPlain(bytes, gap, end);
    const isPlain = bytes[plainEnd] === QUOTE;
    const close = isPlain ? plainEnd : endOfString(bytes, plainEnd, end);
    if (close === gap || !isAt(this.#after, bytes, close, end)) return undefined;
    // Text is sent as it was received, with all its escapes.
    const raw = bytes.toString('utf8', gap, close);
    const text = isPlain ? raw : unescape(raw);
    if (text === undefined) return undefined;
    const closed = close + this.#after.length;
    if (this.#afterPadding === undefined) return { text, written: this.#write(raw, ''), end: closed };
    const paddingEnd = endOfPlain(bytes, closed, end);
    if (!isAt(this.#afterPadding, bytes, paddingEnd, end)) return undefined;
    const written = this.#write(raw, bytes.toString('utf8', closed, paddingEnd));
    return { text, written, end: paddingEnd + this.#afterPadding.length };
  }

  #write(text: string, padding: string): string {
    const start = this.#writtenBefore + text + this.#writtenAfter;
    if (this.#writtenMore.length === 0) return start;
    const [end = '', last = ''] = this.#writtenMore;
    return this.#hasTextTwice ? start + text + end + padding + last : start + padding + end;
  }
}

/** Stores a string in one piece. One that was cut or joined is stored as its parts, which would be put together for every token. */
function flatten(text: string): string {
  return Buffer.from(text).toString();
}

/** Cuts a chunk around the values of these fields, inside their quotes. Returns undefined unless each field occurs once more, in this order. */
function cutAround(chunk: string, fields: readonly (readonly [name: string, value: string])[]): string[] | undefined {
  const pieces: string[] = [];
  let rest = chunk;
  for (const [name, value] of fields) {
    const written = JSON.stringify(value);
    const field = rest.includes(`"${name}":${written}`) ? `"${name}":` : `"${name}": `;
    const at = rest.indexOf(field + written);
    if (at === -1 || rest.includes(field + written, at + 1)) return undefined;
    pieces.push(`${rest.slice(0, at)}${field}"`);
    rest = rest.slice(at + field.length + written.length - 1);
  }
  return [...pieces, rest];
}

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;

/** Returns where the string that starts here ends: at its closing quote, or at a character that no string contains. */
function endOfString(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === BACKSLASH) at = endOfPlain(bytes, at + 2, end);
  return at;
}

/** Returns where the text that stands for itself ends: at a quote, an escape or a control character. */
function endOfPlain(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at]; at < end && byte !== undefined && byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH; byte = bytes[at])
    at += 1;
  return at;
}

/** Compares in a loop: compiled, it takes less time than the call of `Buffer.compare` does, whose code is not in the caches. */
function isAt(expected: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = expected;
  if (start + length > end) return false;
  for (let at = 0; at < length; at += 1) if (bytes[start + at] !== expected[at]) return false;
  return true;
}

/** Returns what a string in JSON stands for, or undefined when it has an escape that JSON does not know. */
function unescape(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
