import { ChunkTemplate, type Gaps } from './chunk-template.ts';
import type { OutputText } from './output-text.ts';
import type { Tokens } from './provider.ts';

/** After this many templates that matched nothing, all events of the stream are parsed. */
const TEMPLATES_MAX = 8;

/** How much of a packet is read at a time. If its events differ, the rest is read again and again. */
const READ_BYTES_MAX = 16 * 1024;

/** Takes the tokens of a stream from events that look like an earlier one, without parsing them. */
export class TokenTaker {
  readonly #output: OutputText;
  #template: ChunkTemplate | undefined;
  /** The number of templates since the last one that matched. */
  #unmatched = 0;

  constructor(output: OutputText) {
    this.#output = output;
  }

  /** False when no two events of this stream have looked alike, so that there is nothing to learn from another. */
  get isLearning(): boolean {
    return this.#unmatched < TEMPLATES_MAX;
  }

  /** Learns from an event that has been parsed, as in `ChunkTemplate`. */
  learn(received: string, gaps: Gaps, write: (text: string, padding: string) => string): void {
    this.#template = ChunkTemplate.from(received, gaps, write);
    this.#unmatched += 1;
  }

  /** Forgets the last form: an event of another form may have changed what events of this one mean. */
  forget(): void {
    this.#template = undefined;
  }

  /** As in `StreamDecoder.takeTokens`. */
  take(bytes: Buffer, start: number, end: number): Tokens | undefined {
    const template = this.#template;
    if (template === undefined) return undefined;
    const packet = bytes.toString('latin1', start, Math.min(end, start + READ_BYTES_MAX));
    let text = '';
    let at = 0;
    for (let token = template.match(packet, at); token !== undefined; token = template.match(packet, at)) {
      this.#output.add(token.text);
      text += token.written;
      at = token.end;
    }
    if (at === 0) return undefined;
    this.#unmatched = 0;
    return { text, end: start + at };
  }
}
