import type { GatewayError } from '../errors.ts';
import type { Answer } from './answer.ts';
import type { Abortable, Timed, Watcher } from './call.ts';

/** More exchanges at once would look like an attack to a provider. The others wait for their turn. */
export const CONCURRENT_MAX = 16;

/** One of the answers that a request was split into. Watches the exchange in progress for it. */
export class Strand implements Watcher, Abortable, Timed {
  readonly index: number;
  #exchange: Abortable | undefined;
  #deadlines: Timed | undefined;
  #end: { readonly reason: unknown } | undefined;

  constructor(index: number) {
    this.index = index;
  }

  watch(exchange: Abortable, deadlines: Timed): void {
    this.#exchange = exchange;
    this.#deadlines = deadlines;
    if (this.#end !== undefined) exchange.abort(this.#end.reason);
  }

  abort(reason: unknown): void {
    this.#end ??= { reason };
    this.#exchange?.abort(reason);
  }

  /** Checks the deadlines of its own exchange. A late exchange fails by itself. */
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

  /** Returns all answers in order. The first failure fails all of them. */
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

  /** Starts as many as may be in progress at once. */
  askFirst(): readonly PendingStrand[] {
    return Array.from({ length: CONCURRENT_MAX }, () => this.askNext()).filter((asked) => asked !== undefined);
  }

  /** Starts the next one; undefined when none is left, or when the answers are no longer wanted. */
  askNext(): PendingStrand | undefined {
    // The first one is started in any case: if all have already ended, its failure says why.
    const strand = this.#end === undefined || this.#begun === 0 ? this.#all[this.#begun] : undefined;
    if (strand === undefined) return undefined;
    this.#begun += 1;
    return { strand, answer: this.#ask(strand) };
  }
}

/** A strand in progress, and its pending answer. */
export interface PendingStrand {
  readonly strand: Strand;
  readonly answer: Promise<Answer>;
}
