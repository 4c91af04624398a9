import type { Outbox } from '../http/outbox.ts';
import type { WireUsage } from '../openai/types.ts';
import type { DecodedReply } from '../providers/dialect.ts';
import type { Credentials } from './credentials.ts';
import type { Tally } from './tally.ts';

/** The provider that answered, and the model's name there. */
export interface ServedBy {
  readonly provider: string;
  readonly servedModel: string;
}

/** The facts that every answer carries. */
interface AnswerFacts extends ServedBy {
  /** Fields of the request that the provider cannot honour. */
  readonly dropped: readonly string[];
}

/** An answer that is complete. */
export interface WholeAnswer extends AnswerFacts {
  readonly type: 'whole';
  readonly reply: DecodedReply;
  /** How many times the input was read for it. */
  readonly prompts: number;
}

/** A stream whose first chunk has arrived. */
export interface StreamAnswer extends AnswerFacts {
  readonly type: 'stream';
  readonly source: StreamSource;
  readonly wantsUsage: boolean;
  /** Redacted in the message of a failure. */
  readonly credentials: Credentials;
}

/** An answer of a provider: complete, or a stream. */
export type Answer = WholeAnswer | StreamAnswer;

/** Receives the output of a stream: texts, then either one end or one failure. */
export interface StreamSink {
  /** Receives events in the form that the client gets. */
  onText(text: string): void;
  /** Receives such events that carry only pieces of text and end no choice. They are valid only during the call. */
  onTokens(out: Outbox): void;
  onComplete(): void;
  onFailure(failure: unknown): void;
}

/** The provider's side of a stream: one answer, or several presented as one. */
export interface StreamSource {
  /** Passes everything buffered, and everything that follows, to the sink. */
  start(sink: StreamSink): void;
  /** Makes the provider wait, because the client reads slowly. */
  pause(): void;
  resume(): void;
  /** Lets the provider close its answer in its own time, so that the connection can be reused. */
  finish(): void;
  /** Returns the chunks that end every open choice with `length`, for an answer that the gate cuts off. */
  cut(): readonly string[];
  /** Returns the chunk that carries the usage. */
  usageChunk(usage: WireUsage): string;
  /** Returns the output and usage so far. */
  tally(): Tally;
  /** As in StreamDecoder. */
  readonly carried: ReadonlyMap<string, string> | undefined;
  readonly continuation: string | undefined;
}
