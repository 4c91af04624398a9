import type { Tokens } from './provider.ts';

/**
 * A chunk with a gap where its text goes. Nearly all chunks of a stream differ only in the few characters of a token.
 * Once one chunk has been parsed, patched and rewritten, the following ones are compared with it byte by byte. Parsing
 * and writing each chunk would cost more than all other work on the stream.
 */
export class ChunkTemplate {
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #writtenBefore: string;
  readonly #writtenAfter: string;

  /**
   * Makes a template from a chunk that carries `content`, as received and as rewritten. Returns undefined when the
   * position of the text is ambiguous.
   */
  static from(received: string, written: string, content: string): ChunkTemplate | undefined {
    const gap = `"content":${JSON.stringify(content)}`;
    const [at, writtenAt] = [received.indexOf(gap), written.indexOf(gap)];
    if (content === '' || at === -1 || writtenAt === -1) return undefined;
    if (received.includes(gap, at + 1) || written.includes(gap, writtenAt + 1)) return undefined;
    const cut = (text: string, start: number): [string, string] => [text.slice(0, start + OPEN.length), text.slice(start + gap.length - 1)];
    return new ChunkTemplate(cut(received, at), cut(written, writtenAt));
  }

  private constructor([before, after]: readonly [string, string], [writtenBefore, writtenAfter]: readonly [string, string]) {
    this.#before = Buffer.from(`data: ${before}`);
    this.#after = Buffer.from(`${after}\n\n`);
    // `join` instead of `+`: a concatenated string is stored as its parts and would be flattened again for every token.
    this.#writtenBefore = ['data: ', writtenBefore].join('');
    this.#writtenAfter = [writtenAfter, '\n\n'].join('');
  }

  /**
   * Returns the text of the event at this position and where the event ends. Returns undefined when the event does not
   * match, is incomplete, or needs parsing.
   */
  match(bytes: Buffer, start: number, end: number): Tokens | undefined {
    const gap = start + this.#before.length;
    if (gap + this.#after.length > end || bytes.compare(this.#before, 0, this.#before.length, start, gap) !== 0) return undefined;
    const close = gapEnd(bytes, gap, end - this.#after.length);
    const eventEnd = close + this.#after.length;
    // The bytes after the gap begin with the closing quote.
    if (bytes.compare(this.#after, 0, this.#after.length, close, eventEnd) !== 0) return undefined;
    return { text: bytes.toString('utf8', gap, close), end: eventEnd };
  }

  /** Returns the event to send for this text. */
  write(text: string): string {
    return this.#writtenBefore + text + this.#writtenAfter;
  }
}

const OPEN = '"content":"';
const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Returns where the text that starts here ends. Up to the first quote, escape or control character, the raw bytes equal
 * the decoded text.
 */
function gapEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at]; at < end && byte !== undefined && byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH; byte = bytes[at])
    at += 1;
  return at;
}
