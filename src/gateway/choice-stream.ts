import type { WireUsage } from '../openai/types.ts';
import type { RelaySink, StreamSource } from './relay.ts';
import type { StreamAnswer } from './send.ts';
import type { Asked, Strands } from './strands.ts';
import { addTallies, joinCarried, type Tally } from './tally.ts';

/** The streams of several answers, told as the choices of one. They wait together, and fail together. */
export class ChoiceStream implements StreamSource {
  readonly #strands: Strands;
  /** Those that have begun to answer. */
  readonly #sources: StreamSource[] = [];
  readonly #complete = new Set<StreamSource>();
  /** Begun, but not yet told: there is no sink, or the caller is slow. */
  #unstarted: StreamSource[] = [];
  #sink: RelaySink | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(strands: Strands) {
    this.#strands = strands;
  }

  /** Waits for the first token of each that is asked at once: until then a failure can still be told by a status. */
  async open(): Promise<StreamAnswer> {
    const answers = await Promise.all(this.#strands.askFirst().map(({ answer }) => answer));
    const streams = answers.filter((answer): answer is StreamAnswer => answer.type === 'stream');
    const [first] = streams;
    if (first === undefined) throw new TypeError('A fan-out has no answers');
    for (const { source } of streams) this.#add(source);
    return first;
  }

  start(sink: RelaySink): void {
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

  /** Each of them is followed to its end for itself. */
  get continuation(): undefined {
    return undefined;
  }

  get #running(): readonly StreamSource[] {
    return this.#sources.filter((source) => !this.#complete.has(source) && !this.#unstarted.includes(source));
  }

  #add(source: StreamSource): void {
    this.#sources.push(source);
    this.#unstarted.push(source);
  }

  /** The first of them may fill the caller's connection before the last has begun. */
  #startWaiting(): void {
    while (!this.#isPaused && !this.#isOver) {
      const source = this.#unstarted.shift();
      if (source === undefined) return;
      source.start({
        onText: (text, areTokens) => this.#sink?.onText(text, areTokens),
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

  /** Those that had to wait for their turn begin while others are told. */
  async #await({ answer }: Asked): Promise<void> {
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
