import { formatEvent } from '../http/sse.ts';
import type { WireUsage } from '../openai/types.ts';
import type { RelaySink, StreamSource } from './relay.ts';
import type { Answer } from './send.ts';
import { addTallies, joinCarried, type Tally } from './tally.ts';

/** Where the rest of a stream comes from; undefined when there is none to be had. */
export interface RestOfStream {
  ask(continuation: string, sofar: Tally): Promise<Answer | undefined>;
}

/** A stream that goes on, on the caller's side, where the provider's broke off. */
export class ContinuedStream implements StreamSource, RelaySink {
  readonly #rest: RestOfStream;
  readonly #earlier: StreamSource[] = [];
  #current: StreamSource;
  /** Begun, but not yet told: the caller is slow. */
  #next: StreamSource | undefined;
  #sink: RelaySink | undefined;
  #isPaused = false;
  #isCut = false;

  constructor(first: StreamSource, rest: RestOfStream) {
    this.#current = first;
    this.#rest = rest;
  }

  start(sink: RelaySink): void {
    this.#sink = sink;
    this.#current.start(this);
  }

  pause(): void {
    this.#isPaused = true;
    this.#current.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#next === undefined) this.#current.resume();
    else this.#goOn(this.#next);
  }

  finish(): void {
    this.#current.finish();
  }

  cut(): readonly string[] {
    this.#isCut = true;
    return this.#current.cut();
  }

  usageChunk(usage: WireUsage): string {
    return this.#current.usageChunk(usage);
  }

  tally(): Tally {
    return this.#earlier.length === 0 ? this.#current.tally() : addTallies(this.#all.map((source) => source.tally()));
  }

  get carried(): ReadonlyMap<string, string> | undefined {
    return this.#earlier.length === 0 ? this.#current.carried : joinCarried(this.#all.map((source) => source.carried));
  }

  /** It is followed to its end here. */
  get continuation(): undefined {
    return undefined;
  }

  onText(text: string, areTokens?: boolean): void {
    this.#sink?.onText(text, areTokens);
  }

  onComplete(): void {
    const { continuation } = this.#current;
    if (continuation === undefined) this.#sink?.onComplete();
    else void this.#ask(continuation);
  }

  onFailure(failure: unknown): void {
    this.#sink?.onFailure(failure);
  }

  get #all(): readonly StreamSource[] {
    return [...this.#earlier, this.#current];
  }

  async #ask(continuation: string): Promise<void> {
    this.#current.finish();
    try {
      const answer = await this.#rest.ask(continuation, this.tally());
      // Asked for before the answer was cut off, and nobody watches it any more.
      if (this.#isCut) return answer?.type === 'stream' ? answer.source.finish() : undefined;
      if (answer?.type !== 'stream') this.#giveUp();
      else if (this.#isPaused) this.#next = answer.source;
      else this.#goOn(answer.source);
    } catch (error) {
      this.#sink?.onFailure(error);
    }
  }

  #goOn(next: StreamSource): void {
    this.#next = undefined;
    this.#earlier.push(this.#current);
    this.#current = next;
    next.start(this);
  }

  #giveUp(): void {
    for (const chunk of this.#current.cut()) this.#sink?.onText(formatEvent(chunk));
    this.#sink?.onComplete();
  }
}
