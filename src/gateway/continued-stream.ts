import type { Outbox } from '../http/outbox.ts';
import { formatEvent } from '../http/sse.ts';
import type { WireUsage } from '../openai/types.ts';
import type { Answer, StreamSink, StreamSource } from './answer.ts';
import { addTallies, joinCarried, type Tally } from './tally.ts';

/** Supplies the rest of a stream; undefined when there is none. */
export interface RestOfStream {
  ask(continuation: string, soFar: Tally): Promise<Answer | undefined>;
}

/** A stream that continues for the client where the provider's stream stopped. */
export class ContinuedStream implements StreamSource, StreamSink {
  /** Continuations are followed here, so none is left to follow. */
  readonly continuation = undefined;
  readonly #rest: RestOfStream;
  readonly #earlier: StreamSource[] = [];
  #current: StreamSource;
  /** The next part, already begun, which waits because the client is slow. */
  #next: StreamSource | undefined;
  #sink: StreamSink | undefined;
  #isPaused = false;
  #isCut = false;

  constructor(first: StreamSource, rest: RestOfStream) {
    this.#current = first;
    this.#rest = rest;
  }

  start(sink: StreamSink): void {
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
    else this.#switchTo(this.#next);
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

  onText(text: string): void {
    this.#sink?.onText(text);
  }

  onTokens(out: Outbox): void {
    this.#sink?.onTokens(out);
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
      // The next part was requested before the answer was cut off, and nothing watches it any more.
      if (this.#isCut) return answer?.type === 'stream' ? answer.source.finish() : undefined;
      if (answer?.type !== 'stream') this.#endEarly();
      else if (this.#isPaused) this.#next = answer.source;
      else this.#switchTo(answer.source);
    } catch (error) {
      this.#sink?.onFailure(error);
    }
  }

  #switchTo(next: StreamSource): void {
    this.#next = undefined;
    this.#earlier.push(this.#current);
    this.#current = next;
    next.start(this);
  }

  #endEarly(): void {
    for (const chunk of this.#current.cut()) this.#sink?.onText(formatEvent(chunk));
    this.#sink?.onComplete();
  }
}
