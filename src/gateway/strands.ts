import type { GatewayError } from '../errors.ts';
import type { Abortable, Timed, Watcher } from './gate.ts';
import type { Answer } from './send.ts';

/** More exchanges at once than this would look like an attack to a provider; the others wait for their turn. */
export const CONCURRENT_MAX = 16;

/** One of the answers that a request was split into: looks after the exchange that is under way for it. */
export class Strand implements Watcher, Abortable, Timed {
  readonly index: number;
  #exchange: Abortable | undefined;
  #deadlines: Timed | undefined;
  #end: { readonly reason: unknown } | undefined;

  constructor(index: number) {
    this.index = index;
  }

  beginAttempt(exchange: Abortable, deadlines: Timed): void {
    this.#exchange = exchange;
    this.#deadlines = deadlines;
    if (this.#end !== undefined) exchange.abort(this.#end.reason);
  }

  abort(reason: unknown): void {
    this.#end ??= { reason };
    this.#exchange?.abort(reason);
  }

  /** Each exchange has a time of its own; one that is late fails by itself. */
  check(nowMs: number): undefined {
    const lateness = this.#deadlines?.check(nowMs);
    if (lateness !== undefined) this.#exchange?.abort(lateness);
  }
}

/** All answers that a request was split into. They end together. */
export class Strands implements Abortable, Timed {
  readonly #all: readonly Strand[];
  readonly #ask: (strand: Strand) => Promise<Answer>;
  #begun = 0;
  #end: { readonly reason: unknown } | undefined;

  constructor(count: number, ask: (strand: Strand) => Promise<Answer>) {
    this.#all = Array.from({ length: count }, (_, index) => new Strand(index));
    this.#ask = ask;
  }

  get count(): number {
    return this.#all.length;
  }

  abort(reason: unknown): void {
    this.#end ??= { reason };
    for (const strand of this.#all) strand.abort(reason);
  }

  check(nowMs: number): GatewayError | undefined {
    for (const strand of this.#all) strand.check(nowMs);
    return undefined;
  }

  /** The answers to all of them, in their order. The first failure is that of all. */
  async askAll(): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    const askOn = async (): Promise<void> => {
      for (let next = this.askNext(); next !== undefined; next = this.askNext()) {
        const { index } = next.strand;
        answers[index] = await next.answer;
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_MAX, this.count) }, askOn));
    return answers;
  }

  /** Asks as many as may be under way at once. */
  askFirst(): readonly Asked[] {
    return Array.from({ length: CONCURRENT_MAX }, () => this.askNext()).filter((asked) => asked !== undefined);
  }

  /** Asks the next one; undefined when there is none left, or nobody wants it any more. */
  askNext(): Asked | undefined {
    // The first is asked in any case: should all be over already, its failure tells why.
    const strand = this.#end === undefined || this.#begun === 0 ? this.#all[this.#begun] : undefined;
    if (strand === undefined) return undefined;
    this.#begun += 1;
    return { strand, answer: this.#ask(strand) };
  }
}

/** A strand that is under way, and its answer to come. */
export interface Asked {
  readonly strand: Strand;
  readonly answer: Promise<Answer>;
}
