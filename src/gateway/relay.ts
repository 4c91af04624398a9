import { formatEvent, SseParser } from '../http/sse.ts';
import { ProviderFault, type StreamDecoder } from '../providers/provider.ts';
import type { Deadlines } from './deadlines.ts';

/** Reads a provider's stream and gives what to send on, one piece per packet that arrived. */
export class Relay {
  readonly decoder: StreamDecoder;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #deadlines: Deadlines;
  readonly #parser = new SseParser();
  #ready: string | undefined;
  #reading: Promise<string | undefined> | undefined;
  #fault: unknown;
  #isEnded = false;

  constructor(body: ReadableStream<Uint8Array>, decoder: StreamDecoder, deadlines: Deadlines) {
    this.#reader = body.getReader();
    this.decoder = decoder;
    this.#deadlines = deadlines;
  }

  /**
   * Waits for the first token: until it is here, a failure can still be told by a status, and another provider tried.
   * A provider that has begun but thinks for longer than `patienceMs` is let through, so that the caller sees life.
   */
  async open(patienceMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isLate = new Promise<typeof LATE>((resolve) => (timer = setTimeout(resolve, patienceMs, LATE)));
    try {
      this.#ready = await this.#begin(isLate);
    } finally {
      clearTimeout(timer);
    }
    this.#deadlines.started();
  }

  async #begin(isLate: Promise<typeof LATE>): Promise<string> {
    let begun = '';
    while (!this.decoder.hasOutput) {
      this.#reading ??= this.#read();
      const text = await (begun === '' ? this.#reading : Promise.race([this.#reading, isLate]));
      if (text === LATE) break;
      this.#reading = undefined;
      if (text === undefined) break;
      begun += text;
    }
    // Should the caller leave before it takes the read that is under way, nobody else would hear it fail.
    this.#reading?.catch(() => undefined);
    if (begun === '') throw new ProviderFault('The provider ended the stream before it said anything');
    return begun;
  }

  /** The next events, as they go to the caller; undefined when the answer is complete. Rejects when it is broken. */
  next(): Promise<string | undefined> {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined) return Promise.resolve(ready);
    // A read that `open` began and did not wait for comes first.
    const reading = this.#reading ?? this.#read();
    this.#reading = undefined;
    return reading;
  }

  async #read(): Promise<string | undefined> {
    while (this.#fault === undefined && !this.#isEnded) {
      this.#deadlines.waiting();
      const { done, value } = await this.#reader.read();
      this.#deadlines.arrived();
      const text = this.#take(done, value);
      if (text !== '') return text;
    }
    if (this.#fault !== undefined) throw this.#fault;
    return undefined;
  }

  /** Lets the provider close the connection in its own time, so that it can be used again. */
  async finish(): Promise<void> {
    const isClosed = this.#reader.read().then(
      () => true,
      () => true,
    );
    const isLate = new Promise<boolean>((resolve) => setTimeout(resolve, CLOSE_MS, false));
    if (!(await Promise.race([isClosed, isLate]))) await this.#reader.cancel().catch(() => undefined);
  }

  #take(isEnd: boolean, bytes: Uint8Array | undefined): string {
    let text = '';
    try {
      for (const event of isEnd || bytes === undefined ? this.#parser.end() : this.#parser.push(bytes)) {
        for (const chunk of this.decoder.push(event)) text += formatEvent(chunk);
        if (this.decoder.isDone) break;
      }
      this.#isEnded = isEnd || this.decoder.isDone;
      if (this.#isEnded && !this.decoder.isComplete) throw new ProviderFault('The provider broke off in the middle of its answer');
    } catch (error) {
      // What came before the fault is still the caller's; the fault is told next.
      this.#fault = error instanceof ProviderFault ? error : new ProviderFault('The provider sent an event without an end');
    }
    return text;
  }
}

const CLOSE_MS = 1000;
const LATE = Symbol('late');
