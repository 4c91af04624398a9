import { GatewayError } from '../errors.ts';
import type { BodyListener, Exchange } from '../http/exchange.ts';
import { Outbox } from '../http/outbox.ts';
import { formatEvent, type SseEvent } from '../http/sse.ts';
import { isNestedTooDeep } from '../openai/json-depth.ts';
import type { WireUsage } from '../openai/types.ts';
import { ProviderFault, type StreamDecoder } from '../providers/dialect.ts';
import type { TokenUsage } from '../tokens.ts';
import type { StreamSink, StreamSource } from './answer.ts';
import type { Deadlines } from './deadlines.ts';
import { ENDING } from './finish-reason.ts';
import type { Tally } from './tally.ts';

/** Splits a stream of bytes into events, using the provider's framing. */
export interface EventParser {
  /** True when nothing is buffered, so the next byte begins an event. Undefined where events are not text. */
  readonly isBetweenEvents?: boolean;
  push(bytes: Uint8Array): readonly SseEvent[];
  end(): readonly SseEvent[];
}

/** The form of a stream: how it is read, and how many choices it must finish. */
interface StreamForm {
  readonly parser: EventParser;
  readonly decoder: StreamDecoder;
  readonly choices: number;
  /** Counts bytes that are kept, or with a negative number frees them. May throw to refuse them. */
  readonly hold: (bytes: number) => void;
}

/** The provider's side of one stream: turns each packet, as it arrives, into events for the client. */
export class Relay implements BodyListener, StreamSource {
  readonly decoder: StreamDecoder;
  readonly #exchange: Exchange;
  readonly #deadlines: Deadlines;
  readonly #parser: EventParser;
  readonly #choices: number;
  readonly #hold: (bytes: number) => void;
  /** The bytes of an event whose end has not arrived. One with an image may be very long. */
  #pendingBytes = 0;
  /** The number of choice endings forwarded, and the length of the answer at the last of them. */
  #endings = 0;
  #lengthAtEnding = 0;
  /** The end of the only choice, while it may turn out that there is more: it came together with output. */
  #heldEnding: string | undefined;
  /** The last report, and the length of the answer when it came. */
  #usage: TokenUsage | undefined;
  #lengthAtUsage = 0;
  #opening: Opening | undefined;
  #sink: StreamSink | undefined;
  /** Text that arrived before there was a sink. */
  #buffered = '';
  #state: 'running' | 'complete' | 'failed' = 'running';
  #failure: unknown;
  #closing: ReturnType<typeof setTimeout> | undefined;

  constructor(exchange: Exchange, { parser, decoder, choices, hold }: StreamForm, deadlines: Deadlines) {
    this.#exchange = exchange;
    this.#parser = parser;
    this.decoder = decoder;
    this.#choices = choices;
    this.#hold = hold;
    this.#deadlines = deadlines;
  }

  /**
   * Waits for the first token. Until it arrives, a failure can still be reported by a status, and another provider tried.
   * If the provider has started but thinks for longer than `patienceMs`, the stream opens anyway, so that the client sees activity.
   * `hasStarted` is true when the provider's 200 is enough of a start.
   */
  async open(patienceMs: number, hasStarted = false): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#opening = { resolve, reject, isLate: false, hasActivity: hasStarted };
        timer = setTimeout(() => this.#onPatienceOver(), patienceMs);
        this.#deadlines.arrived();
        this.#exchange.listen(this);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  start(sink: StreamSink): void {
    this.#sink = sink;
    const buffered = this.#buffered;
    this.#buffered = '';
    if (buffered !== '') sink.onText(buffered);
    if (this.#state === 'complete') sink.onComplete();
    else if (this.#state === 'failed') sink.onFailure(this.#failure);
    else if (buffered.length > BUFFERED_CHARACTERS_MAX) this.resume();
  }

  pause(): void {
    this.#deadlines.paused();
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
    const ending = this.#heldEnding;
    this.#heldEnding = undefined;
    return ending === undefined ? this.decoder.cut() : [ending];
  }

  usageChunk(usage: WireUsage): string {
    return this.decoder.usageChunk(usage);
  }

  tally(): Tally {
    const { usage, wireUsage, outputText } = this.decoder;
    const outputLength = this.#outputLength;
    return { usage, isUsageOutdated: outputLength > this.#lengthAtUsage, wireUsage, outputText, outputLength, prompts: 1 };
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
    let at = start;
    while (at < end && this.#state === 'running') {
      const taken = this.#takeTokens(bytes, at, end);
      at = taken > at ? taken : this.#readNext(bytes, at, end);
    }
    if (this.#opening !== undefined) this.#onActivity(this.#opening);
  }

  onEnd(): void {
    clearTimeout(this.#closing);
    if (this.#state === 'running') this.#read(undefined);
  }

  onFailure(failure: unknown): void {
    clearTimeout(this.#closing);
    if (this.#state === 'running') this.#onBroken(failure);
  }

  /** Forwards the tokens at this position that need no parsing. Returns where they end: at the start when there are none. */
  #takeTokens(bytes: Buffer, start: number, end: number): number {
    if (this.#parser.isBetweenEvents !== true || this.decoder.takeTokens === undefined) return start;
    // Cleared here and not afterwards: what is left after an error must not go to another client.
    OUTBOX.clear();
    const taken = this.decoder.takeTokens(bytes, start, end, OUTBOX);
    if (taken === start) return start;
    if (this.#sink === undefined) this.#forward(OUTBOX.read());
    else this.#sink.onTokens(OUTBOX);
    return taken;
  }

  /** Reads on to the end of the packet, or of the event, if the tokens behind it may need no parsing. Returns where that is. */
  #readNext(bytes: Buffer, start: number, end: number): number {
    const blankLine = this.decoder.takeTokens === undefined ? -1 : bytes.indexOf(BLANK_LINE, start);
    const next = blankLine === -1 ? end : Math.min(blankLine + BLANK_LINE.length, end);
    this.#read(bytes.subarray(start, next));
    return next;
  }

  /** Reads a part of the stream, or its end. Text that precedes a fault still goes to the client. */
  #read(bytes: Uint8Array | undefined): void {
    let text = '';
    let fault: Error | undefined;
    try {
      const events = bytes === undefined ? this.#parser.end() : this.#parser.push(bytes);
      if (events.length === 0 && bytes !== undefined) this.#holdPending(bytes.length);
      else this.#freePending();
      for (const event of events) {
        text += this.#decode(event);
        if (this.decoder.isDone) break;
      }
    } catch (error) {
      fault =
        error instanceof ProviderFault || error instanceof GatewayError
          ? error
          : new ProviderFault('The provider sent an unterminated event');
    }
    if (text !== '') this.#forward(text);
    if (fault !== undefined) this.#onBroken(fault);
    else if (bytes === undefined || this.decoder.isDone) this.#end();
  }

  #holdPending(bytes: number): void {
    this.#hold(bytes);
    this.#pendingBytes += bytes;
  }

  #freePending(): void {
    if (this.#pendingBytes === 0) return;
    this.#hold(-this.#pendingBytes);
    this.#pendingBytes = 0;
  }

  #decode(event: SseEvent): string {
    refuseTooDeep(event.data);
    const lengthBefore = this.#outputLength;
    const chunks = this.decoder.push(event);
    const hasGrown = this.#outputLength > lengthBefore;
    let text = '';
    for (const chunk of chunks) text += formatEvent(chunk);
    if (text.includes(ENDING)) text = this.#onEnding(chunks, text, hasGrown);
    else if (!hasGrown && this.#heldEnding !== undefined) text = this.#releaseEnding() + text;
    if (this.decoder.usage !== this.#usage) this.#onUsage();
    return text;
  }

  #onUsage(): void {
    this.#usage = this.decoder.usage;
    this.#lengthAtUsage = this.#outputLength;
  }

  /** Returns what to send of the chunks of an event that ends a choice. */
  #onEnding(chunks: readonly string[], text: string, hasGrown: boolean): string {
    this.#endings += text.split(ENDING).length - 1;
    this.#lengthAtEnding = this.#outputLength;
    this.#heldEnding = undefined;
    const last = chunks.at(-1);
    // Only an end by itself can be held back: what is held is dropped when another follows.
    if (!hasGrown || this.#choices > 1 || chunks.length < 2 || last?.includes(ENDING) !== true) return text;
    // Some models send a finish reason with every piece of text, and some clients stop reading at the first.
    this.#heldEnding = last;
    return chunks.slice(0, -1).map(formatEvent).join('');
  }

  #releaseEnding(): string {
    const ending = this.#heldEnding;
    this.#heldEnding = undefined;
    return ending === undefined ? '' : formatEvent(ending);
  }

  get #outputLength(): number {
    return this.decoder.outputLength ?? this.decoder.outputText.length;
  }

  /** Whether every choice has ended and no output followed. A finish reason alone proves nothing: some models send one with every chunk. */
  get #isWhole(): boolean {
    return this.decoder.isComplete && this.#endings >= this.#choices && this.#outputLength === this.#lengthAtEnding;
  }

  #forward(text: string): void {
    if (this.#opening !== undefined && this.decoder.hasOutput) this.#onFirstToken(this.#opening);
    if (this.#sink !== undefined) {
      this.#sink.onText(text);
      return;
    }
    this.#buffered += text;
    if (this.#buffered.length > BUFFERED_CHARACTERS_MAX) this.pause();
  }

  #onFirstToken(opening: Opening): void {
    this.#opening = undefined;
    this.#deadlines.started();
    opening.resolve();
  }

  #onPatienceOver(): void {
    if (this.#opening === undefined) return;
    this.#opening.isLate = true;
    if (this.#opening.hasActivity) this.#opening.resolve();
  }

  /** Notes any sign of life. Comments count too, and so do events that are not forwarded to clients. */
  #onActivity(opening: Opening): void {
    opening.hasActivity = true;
    if (opening.isLate) opening.resolve();
  }

  #end(): void {
    if (!this.decoder.isComplete) {
      this.#fail(new ProviderFault('The provider stopped in the middle of its answer'));
      return;
    }
    if (this.#heldEnding !== undefined) this.#forward(this.#releaseEnding());
    // An answer that pauses again without any output is not a failure.
    if (this.#sink === undefined && this.#buffered === '' && this.decoder.continuation === undefined) {
      this.#fail(new ProviderFault('The provider ended the stream before any output'));
      return;
    }
    this.#state = 'complete';
    this.#deadlines.stop();
    this.#opening?.resolve();
    this.#sink?.onComplete();
  }

  /** Handles a broken stream. A connection that breaks after a complete answer is not a failure: the client has seen the end. */
  #onBroken(failure: unknown): void {
    if (this.#isWhole && isProviderFailure(failure)) this.#end();
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

/** Refuses JSON that is nested too deeply. It could not be written again for the client, so it is not parsed. */
export function refuseTooDeep(json: string): void {
  if (isNestedTooDeep(json)) throw new ProviderFault('The provider sent JSON that is nested too deeply');
}

/** Whether the provider failed, rather than the client leaving or the server shutting down. */
function isProviderFailure(failure: unknown): boolean {
  return failure instanceof GatewayError ? failure.errorName === 'provider_timeout' : failure instanceof Error;
}

/** A wait for the first token. It lasts until then, even if the stream has been opened before. */
interface Opening {
  readonly resolve: () => void;
  readonly reject: (failure: unknown) => void;
  /** True once the provider has exceeded the patience: any sign of life then opens the stream. */
  isLate: boolean;
  hasActivity: boolean;
}

/** Tokens on their way to a client. All relays share it: each fills it and hands it on before another one runs. */
const OUTBOX = new Outbox();
const BLANK_LINE = Buffer.from('\n\n');
/** How long a provider may take to close the connection after the end of its answer. */
const CLOSE_MS = 1000;
/** How much of an answer is buffered until the client's stream opens, which takes a moment. A provider that sends more has to wait. */
const BUFFERED_CHARACTERS_MAX = 256 * 1024;
