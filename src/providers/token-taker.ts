import type { Outbox } from '../http/outbox.ts';
import { ChunkTemplate, type Gaps } from './chunk-template.ts';
import type { OutputText } from './output-text.ts';

/** After this many templates that matched nothing, all events of the stream are parsed. */
const TEMPLATES_MAX = 8;

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
  learn(received: string, written: string, gaps: Gaps): void {
    this.#template = ChunkTemplate.from(received, written, gaps);
    this.#unmatched += 1;
  }

  /** Forgets the last form: an event of another form may have changed what events of this one mean. */
  forget(): void {
    this.#template = undefined;
  }

  /** As in `StreamDecoder.takeTokens`. */
  take(bytes: Buffer, start: number, end: number, out: Outbox): number {
    const template = this.#template;
    if (template === undefined) return start;
    let at = start;
    for (let next = template.match(bytes, at, end); next > at; next = template.match(bytes, at, end)) {
      template.write(bytes, out);
      template.tell(bytes, this.#output);
      at = next;
    }
    if (at > start) this.#unmatched = 0;
    return at;
  }
}
