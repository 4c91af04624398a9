/**
 * A chunk with a hole where its text is. Nearly all chunks of a stream are alike but for the few characters of a token,
 * so once one was parsed, patched and written again, the next ones need only be held against it. Parsing and writing
 * each would cost more than everything else that is done with a stream.
 */
export class ChunkTemplate {
  readonly #before: string;
  readonly #after: string;
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
    this.#before = before;
    this.#after = after;
    this.#writtenBefore = writtenBefore;
    this.#writtenAfter = writtenAfter;
  }

  /** What a chunk says that is like the template; undefined when it is not, or has to be looked at more closely. */
  match(came: string): string | undefined {
    const end = came.length - this.#after.length;
    const start = this.#before.length;
    if (end < start || !came.startsWith(this.#before) || !came.endsWith(this.#after)) return undefined;
    const text = came.slice(start, end);
    // Without quotes, escapes and control characters the hole holds one text and nothing else, spelled as it is read.
    return NOT_PLAIN.test(text) ? undefined : text;
  }

  /** The chunk to send for this text. */
  write(text: string): string {
    return this.#writtenBefore + text + this.#writtenAfter;
  }
}

const OPEN = '"content":"';
const NOT_PLAIN = /["\\\p{Cc}]/u;
