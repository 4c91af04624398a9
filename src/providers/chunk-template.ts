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
  /** The value of `obfuscation`: random characters with which OpenAI hides how long a token is. */
  readonly padding?: string | undefined;
}

/**
 * An event with a gap where its text goes. Nearly all events of a stream differ only in the few characters of a token.
 * Once one event has been parsed, patched and rewritten, the following ones are compared with it byte by byte, which
 * takes a third of the time.
 */
export class ChunkTemplate {
  /** What surrounds the gaps, with one character for each byte. */
  readonly #before: string;
  readonly #after: string;
  readonly #afterPadding: string | undefined;
  /** The event to send, in pieces, with a mark at each gap. */
  readonly #written: readonly string[];

  /**
   * Makes a template from an event with these gaps. `write` returns the event to send in its place, given another text
   * and padding. Returns undefined when the position of a gap is ambiguous.
   */
  static from(
    received: string,
    { field, text, padding }: Gaps,
    write: (text: string, padding: string) => string,
  ): ChunkTemplate | undefined {
    const [before, rest] = cutAround(received, field, text);
    const [after, end] = rest === undefined || padding === undefined ? [rest] : cutAround(rest, 'obfuscation', padding);
    if (text === '' || before === undefined || after === undefined) return undefined;
    return new ChunkTemplate([before, after, end], write(TEXT_MARK, PADDING_MARK).split(MARKS));
  }

  private constructor([before, after, end]: readonly [string, string, string | undefined], written: readonly string[]) {
    this.#before = toLatin1(before);
    this.#after = toLatin1(after);
    this.#afterPadding = end === undefined ? undefined : toLatin1(end);
    this.#written = written;
  }

  /**
   * Takes the event at this position of a packet that was read with one character for each byte: calls into the runtime
   * are what a token costs, and this way there are few. Returns undefined when the event does not match, is incomplete or
   * has no text, which may mean something else.
   */
  match(packet: string, start: number): Token | undefined {
    if (!packet.startsWith(this.#before, start)) return undefined;
    const gap = start + this.#before.length;
    const close = endOfGap(packet, gap);
    if (close === gap || !packet.startsWith(this.#after, close)) return undefined;
    const closed = close + this.#after.length;
    const raw = packet.slice(gap, close);
    if (this.#afterPadding === undefined) return this.#token(raw, '', closed);
    const paddingEnd = endOfGap(packet, closed);
    const padding = packet.slice(closed, paddingEnd);
    if (!packet.startsWith(this.#afterPadding, paddingEnd) || !PLAIN.test(padding)) return undefined;
    return this.#token(raw, padding, paddingEnd + this.#afterPadding.length);
  }

  /** Text is sent as it was received, with all its escapes. */
  #token(raw: string, padding: string, end: number): Token | undefined {
    if (PLAIN.test(raw)) return { text: raw, written: this.#write(raw, padding), end };
    const quoted = fromLatin1(raw);
    const text = unescape(quoted);
    return text === undefined ? undefined : { text, written: this.#write(quoted, padding), end };
  }

  #write(text: string, padding: string): string {
    let event = '';
    for (const piece of this.#written) event += piece === TEXT_MARK ? text : piece === PADDING_MARK ? padding : piece;
    return event;
  }
}

/** No provider can guess them, so no event contains them. */
const TEXT_MARK = crypto.randomUUID();
const PADDING_MARK = crypto.randomUUID();
const MARKS = new RegExp(`(${TEXT_MARK}|${PADDING_MARK})`);

/** Cuts an event around the value of a field, inside its quotes. Returns nothing unless the field occurs exactly once. */
function cutAround(received: string, field: string, value: string): [string, string] | [] {
  for (const name of [`"${field}":`, `"${field}": `]) {
    const [before, after, ...more] = received.split(name + JSON.stringify(value));
    if (before !== undefined && after !== undefined && more.length === 0) return [`${before}${name}"`, `"${after}`];
  }
  return [];
}

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
/** Text that stands for itself: ASCII without escapes. */
const PLAIN = /^[ -[\]-~]*$/;

/** Returns where the string that starts here ends: at its closing quote, or at a character that no string contains. */
function endOfGap(packet: string, start: number): number {
  let at = start;
  for (let code = packet.charCodeAt(at); code >= SPACE && code !== QUOTE; code = packet.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at;
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function fromLatin1(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}

/** Returns what a string in JSON stands for, or undefined when it has an escape that JSON does not know. */
function unescape(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
