import type { WireUsage } from '../openai/types.ts';
import type { StreamAnswer, StreamSink, StreamSource } from './answer.ts';
import type { PendingStrand, Strands } from './strands.ts';
import { addTallies, joinCarried, type Tally } from './tally.ts';

/** The streams of several answers, presented as the choices of one. They pause together and fail together. */
export class ChoiceStream implements StreamSource {
  /** Each stream follows its own continuations. */
  readonly continuation = undefined;
  readonly #strands: Strands;
  /** The streams that have begun to answer. */
  readonly #sources: StreamSource[] = [];
  readonly #complete = new Set<StreamSource>();
  /** Streams that have begun but are not forwarded yet: there is no sink, or the client is slow. */
  #unstarted: StreamSource[] = [];
  #sink: StreamSink | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(strands: Strands) {
    this.#strands = strands;
  }

  /** Waits for the first token of each stream that is asked at once. Until then a failure can still be reported by a status. */
  async open(): Promise<StreamAnswer> {
    const answers = await Promise.all(this.#strands.askFirst().map(({ answer }) => answer));
    const streams = answers.filter((answer): answer is StreamAnswer => answer.type === 'stream');
    const [first] = streams;
    if (first === undefined) throw new TypeError('A fan-out has no answers');
    for (const { source } of streams) this.#add(source);
    return first;
  }

  start(sink: StreamSink): void {
    this.#sink = sink;
    this.#startWaiting();
  }

  pause(): void {
    this.#isPaused = true;
    for (const source of this.#running) source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const source of this.#running) source.resume();
    this.#startWaiting();
  }

  finish(): void {
    for (const source of this.#sources) source.finish();
  }

  cut(): readonly string[] {
    this.#isOver = true;
    return this.#sources.filter((source) => !this.#complete.has(source)).flatMap((source) => source.cut());
  }

  usageChunk(usage: WireUsage): string {
    return this.#sources[0]?.usageChunk(usage) ?? '';
  }

  tally(): Tally {
    return addTallies(this.#sources.map((source) => source.tally()));
  }

  get carried(): ReadonlyMap<string, string> {
    return joinCarried(this.#sources.map((source) => source.carried));
  }

  get #running(): readonly StreamSource[] {
    return this.#sources.filter((source) => !this.#complete.has(source) && !this.#unstarted.includes(source));
  }

  #add(source: StreamSource): void {
    this.#sources.push(source);
    this.#unstarted.push(source);
  }

  /** Starts the waiting streams while the client keeps up: the first ones may fill its connection before the last has begun. */
  #startWaiting(): void {
    while (!this.#isPaused && !this.#isOver) {
      const source = this.#unstarted.shift();
      if (source === undefined) return;
      source.start({
        onText: (text) => this.#sink?.onText(text),
        onTokens: (out) => this.#sink?.onTokens(out),
        onComplete: () => this.#onComplete(source),
        onFailure: (failure) => this.#fail(failure),
      });
    }
  }

  #onComplete(source: StreamSource): void {
    this.#complete.add(source);
    source.finish();
    const next = this.#isOver ? undefined : this.#strands.askNext();
    if (next !== undefined) void this.#await(next);
    else if (this.#complete.size === this.#strands.count) this.#sink?.onComplete();
  }

  /** Adds a stream that had to wait for its turn, while the others are already running. */
  async #await({ answer }: PendingStrand): Promise<void> {
    try {
      const begun = await answer;
      if (begun.type === 'stream') this.#add(begun.source);
      this.#startWaiting();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#strands.abort(failure);
    this.#sink?.onFailure(failure);
  }
}
