import type { Tokens } from './provider.ts';

/**
 * A chunk with a hole where its text is. Nearly all chunks of a stream are alike but for the few characters of a token,
 * so once one was parsed, patched and written again, the next ones need only be held against it, byte by byte as they
 * came. Parsing and writing each would cost more than everything else that is done with a stream.
 */
export class ChunkTemplate {
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #writtenBefore: string;
  readonly #writtenAfter: string;

  /** Makes a template of a chunk that says `content`: as it came and as it was written. Undefined where the hole is not plain to see. */
  static from(came: string, written: string, content: string): ChunkTemplate | undefined {
    const hole = `"content":${JSON.stringify(content)}`;
    const [at, writtenAt] = [came.indexOf(hole), written.indexOf(hole)];
    if (content === '' || at === -1 || writtenAt === -1) return undefined;
    if (came.includes(hole, at + 1) || written.includes(hole, writtenAt + 1)) return undefined;
    const cut = (text: string, start: number): [string, string] => [
      text.slice(0, start + OPEN.length),
      text.slice(start + hole.length - 1),
    ];
    return new ChunkTemplate(cut(came, at), cut(written, writtenAt));
  }

  private constructor([before, after]: readonly [string, string], [writtenBefore, writtenAfter]: readonly [string, string]) {
    this.#before = Buffer.from(`data: ${before}`);
    this.#after = Buffer.from(`${after}\n\n`);
    // Joined, not added: a sum of strings is kept as its parts, which would be put together anew for every token.
    this.#writtenBefore = ['data: ', writtenBefore].join('');
    this.#writtenAfter = [writtenAfter, '\n\n'].join('');
  }

  /** What the event at this place says, and where it ends. Undefined when it is not like the template, not all there, or has to be looked at more closely. */
  match(bytes: Buffer, start: number, end: number): Tokens | undefined {
    const hole = start + this.#before.length;
    if (hole + this.#after.length > end || bytes.compare(this.#before, 0, this.#before.length, start, hole) !== 0) return undefined;
    const close = holeEnd(bytes, hole, end - this.#after.length);
    const eventEnd = close + this.#after.length;
    // What follows the hole begins with its closing quote.
    if (bytes.compare(this.#after, 0, this.#after.length, close, eventEnd) !== 0) return undefined;
    return { text: bytes.toString('utf8', hole, close), end: eventEnd };
  }

  /** The event to send for this text. */
  write(text: string): string {
    return this.#writtenBefore + text + this.#writtenAfter;
  }
}

const OPEN = '"content":"';
const BLANK = 32;
const QUOTE = 34;
const BACKSLASH = 92;

/** Where the text ends that begins here. Up to the first quote, escape or control character it is one text and nothing else, spelled as it is read. */
function holeEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let byte = bytes[at]; at < end && byte !== undefined && byte >= BLANK && byte !== QUOTE && byte !== BACKSLASH; byte = bytes[at])
    at += 1;
  return at;
}
