import { GatewayError } from '../errors.ts';
import type { BodyListener, Exchange } from '../http/exchange.ts';
import { formatEvent, type SseEvent } from '../http/sse.ts';
import { isNestedTooDeep } from '../openai/json-depth.ts';
import type { WireUsage } from '../openai/types.ts';
import { ProviderFault, type StreamDecoder } from '../providers/provider.ts';
import type { Deadlines } from './deadlines.ts';
import { ENDING } from './finish-reason.ts';
import type { Tally } from './tally.ts';

/** Takes what a relay gives: texts, then one end or one failure. */
export interface RelaySink {
  /** Events as they go to the caller. Where they are known to be tokens, they say something and end nothing. */
  onText(text: string, areTokens?: boolean): void;
  onComplete(): void;
  onFailure(failure: unknown): void;
}

/** The provider's side of a stream, be it one answer or several that are told as one. */
export interface StreamSource {
  /** Gives what has come and whatever comes to this sink. */
  start(sink: RelaySink): void;
  /** The caller is slow: the provider has to wait. */
  pause(): void;
  resume(): void;
  /** Lets the provider close its answer in its own time, so that the connection can be used again. */
  finish(): void;
  /** Ends every choice that is still open with `length`: the chunks of an answer that the gate cuts off. */
  cut(): readonly string[];
  /** The chunk that carries the usage. */
  usageChunk(usage: WireUsage): string;
  /** What has been said and used so far. */
  tally(): Tally;
  /** As in StreamDecoder. */
  readonly carried: ReadonlyMap<string, string> | undefined;
  readonly continuation: string | undefined;
}

/** Cuts a stream of bytes into events, by the framing that the provider uses. */
export interface EventParser {
  /** True when it holds nothing: the next byte begins an event. Undefined where events are not of text. */
  readonly isBetweenEvents?: boolean;
  push(bytes: Uint8Array): readonly SseEvent[];
  end(): readonly SseEvent[];
}

/** How a stream is read, and how many choices it must bring to an end. */
interface Reading {
  readonly parser: EventParser;
  readonly decoder: StreamDecoder;
  readonly choices: number;
}

/** The provider's side of a stream: turns each packet, as it arrives, into what the caller gets. */
export class Relay implements BodyListener, StreamSource {
  readonly decoder: StreamDecoder;
  readonly #exchange: Exchange;
  readonly #deadlines: Deadlines;
  readonly #parser: EventParser;
  readonly #choices: number;
  /** How many ends of choices were sent on, and how long the answer was at the last of them. */
  #endings = 0;
  #lengthAtEnding = 0;
  #opening: Opening | undefined;
  #sink: RelaySink | undefined;
  /** What came before there was a sink. */
  #begun = '';
  #state: 'running' | 'complete' | 'failed' = 'running';
  #failure: unknown;
  #closing: ReturnType<typeof setTimeout> | undefined;

  constructor(exchange: Exchange, { parser, decoder, choices }: Reading, deadlines: Deadlines) {
    this.#exchange = exchange;
    this.#parser = parser;
    this.decoder = decoder;
    this.#choices = choices;
    this.#deadlines = deadlines;
  }

  /**
   * Waits for the first token: until it is here, a failure can still be told by a status, and another provider tried.
   * A provider that has begun but thinks for longer than `patienceMs` is let through, so that the caller sees life.
   */
  async open(patienceMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#opening = { resolve, reject, isLate: false, hasHeard: false };
        timer = setTimeout(() => this.#onLate(), patienceMs);
        this.#deadlines.arrived();
        this.#exchange.listen(this);
      });
    } finally {
      this.#opening = undefined;
      clearTimeout(timer);
    }
    this.#deadlines.started();
  }

  start(sink: RelaySink): void {
    this.#sink = sink;
    const begun = this.#begun;
    this.#begun = '';
    if (begun !== '') sink.onText(begun);
    if (this.#state === 'complete') sink.onComplete();
    else if (this.#state === 'failed') sink.onFailure(this.#failure);
    else if (begun.length > BEGUN_CHARACTERS_MAX) this.resume();
  }

  pause(): void {
    this.#deadlines.resting();
    this.#exchange.pause();
  }

  resume(): void {
    this.#deadlines.arrived();
    this.#exchange.resume();
  }

  finish(): void {
    if (this.#exchange.isOver) return;
    this.#exchange.resume();
    this.#closing = setTimeout(() => this.#exchange.abort(new Error('The provider did not close its answer')), CLOSE_MS);
  }

  cut(): readonly string[] {
    return this.decoder.cut();
  }

  usageChunk(usage: WireUsage): string {
    return this.decoder.usageChunk(usage);
  }

  tally(): Tally {
    const { usage, wireUsage, outputText } = this.decoder;
    return { usage, wireUsage, outputText, outputLength: this.#outputLength, prompts: 1 };
  }

  get carried(): ReadonlyMap<string, string> | undefined {
    return this.decoder.carried;
  }

  get continuation(): string | undefined {
    return this.decoder.continuation;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.#state !== 'running') return;
    this.#deadlines.arrived();
    const tokens = this.#parser.isBetweenEvents === true ? this.decoder.takeTokens?.(bytes, start, end) : undefined;
    if (tokens !== undefined) this.#give(tokens.text, true);
    const rest = tokens?.end ?? start;
    if (rest < end) this.#read(bytes.subarray(rest, end));
    if (this.#opening !== undefined) this.#onHeard(this.#opening);
  }

  onEnd(): void {
    clearTimeout(this.#closing);
    if (this.#state === 'running') this.#read(undefined);
  }

  onFailure(failure: unknown): void {
    clearTimeout(this.#closing);
    if (this.#state === 'running') this.#breakOff(failure);
  }

  /** Reads a packet, or the end. What came before a fault is still the caller's. */
  #read(bytes: Uint8Array | undefined): void {
    let text = '';
    let fault: ProviderFault | undefined;
    try {
      const events = bytes === undefined ? this.#parser.end() : this.#parser.push(bytes);
      for (const event of events) {
        text += this.#decode(event);
        if (this.decoder.isDone) break;
      }
    } catch (error) {
      fault = error instanceof ProviderFault ? error : new ProviderFault('The provider sent an event without an end');
    }
    if (text !== '') this.#give(text);
    if (fault !== undefined) this.#breakOff(fault);
    else if (bytes === undefined || this.decoder.isDone) this.#end();
  }

  #decode(event: SseEvent): string {
    let text = '';
    refuseTooDeep(event.data);
    for (const chunk of this.decoder.push(event)) text += formatEvent(chunk);
    if (text.includes(ENDING)) this.#onEnding(text);
    return text;
  }

  #onEnding(text: string): void {
    this.#endings += text.split(ENDING).length - 1;
    this.#lengthAtEnding = this.#outputLength;
  }

  get #outputLength(): number {
    return this.decoder.outputLength ?? this.decoder.outputText.length;
  }

  /** Every choice has ended, and nothing followed: some models send a finish reason with every chunk, so the reason alone proves nothing. */
  get #isWhole(): boolean {
    return this.decoder.isComplete && this.#endings >= this.#choices && this.#outputLength === this.#lengthAtEnding;
  }

  #give(text: string, areTokens = false): void {
    if (this.#sink !== undefined) {
      this.#sink.onText(text, areTokens);
      return;
    }
    this.#begun += text;
    if (this.decoder.hasOutput) this.#opening?.resolve();
    if (this.#begun.length > BEGUN_CHARACTERS_MAX) this.pause();
  }

  #onLate(): void {
    if (this.#opening === undefined) return;
    this.#opening.isLate = true;
    if (this.#opening.hasHeard) this.#opening.resolve();
  }

  /** A comment is a sign of life too, and so is an event that callers are not told. */
  #onHeard(opening: Opening): void {
    opening.hasHeard = true;
    if (opening.isLate) opening.resolve();
  }

  #end(): void {
    if (!this.decoder.isComplete) {
      this.#fail(new ProviderFault('The provider broke off in the middle of its answer'));
      return;
    }
    // An answer that pauses again has said nothing, and is no failure.
    if (this.#sink === undefined && this.#begun === '' && this.decoder.continuation === undefined) {
      this.#fail(new ProviderFault('The provider ended the stream before it said anything'));
      return;
    }
    this.#state = 'complete';
    this.#deadlines.stop();
    this.#opening?.resolve();
    this.#sink?.onComplete();
  }

  /** A connection that breaks after a whole answer is no failure: the caller was told that the answer has ended. */
  #breakOff(failure: unknown): void {
    if (this.#isWhole && isOfProvider(failure)) this.#end();
    else this.#fail(failure);
  }

  #fail(failure: unknown): void {
    this.#state = 'failed';
    this.#deadlines.stop();
    this.#failure = failure;
    this.#opening?.reject(failure);
    this.#sink?.onFailure(failure);
  }
}

/** JSON that is nested so deep could not be written again for the caller, so it is not parsed. */
export function refuseTooDeep(json: string): void {
  if (isNestedTooDeep(json)) throw new ProviderFault('The provider sent JSON that is nested too deep');
}

/** Whether the provider failed, rather than the caller leaving or the server shutting down. */
function isOfProvider(failure: unknown): boolean {
  return failure instanceof GatewayError ? failure.errorName === 'provider_timeout' : failure instanceof Error;
}

/** Somebody waits for the first token. */
interface Opening {
  readonly resolve: () => void;
  readonly reject: (failure: unknown) => void;
  /** True when the provider has used up the patience, and anything at all will do. */
  isLate: boolean;
  hasHeard: boolean;
}

/** How long a provider may take to close its answer after the end. */
const CLOSE_MS = 1000;
/** What is kept of an answer until the caller's stream is open, which takes a moment. A provider that sends more meanwhile has to wait. */
const BEGUN_CHARACTERS_MAX = 256 * 1024;
