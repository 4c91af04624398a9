import type { TokenUsage } from '../tokens.ts';
import type { ChatRequest, JsonObject, WireUsage } from '../openai/types.ts';
import type { SseEvent } from '../http/sse.ts';

/** Where a request goes: the provider's address and key, and what the model is called there. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** An output limit to set because the caller set none and the account cannot pay for the model's maximum. */
  readonly outputTokensMax: number | undefined;
}

/** An HTTP request to a provider. */
export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a decoder must know about the request it answers. */
export interface ReplyContext {
  /** Our id of the model, which is what the caller asked for and gets back. */
  readonly modelId: string;
  readonly wantsUsage: boolean;
  /** See Host. */
  readonly countsReasoningApart?: boolean;
}

/** A whole answer in the dialect. */
export interface DecodedReply {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
  /** Length of the text produced, for the estimate where the provider reports no usage. */
  readonly outputCharacters: number;
}

/** Turns a provider's events into the dialect's chunks, and watches what passes. */
export interface StreamDecoder {
  /** The chunks that one event gives, as JSON texts. Throws a ProviderFault when the event reports an error. */
  push(event: SseEvent): readonly string[];
  /** The chunk that carries the usage, sent last and only to callers that asked for it. */
  usageChunk(usage: WireUsage): string;
  /** What the provider reported, as it spelled it and as we read it. */
  readonly wireUsage: WireUsage | undefined;
  readonly usage: TokenUsage | undefined;
  readonly outputCharacters: number;
  /** True once something of the answer itself has come, not only its envelope. */
  readonly hasOutput: boolean;
  /** True once every choice has its finish reason, or the provider said that it is done. */
  readonly isComplete: boolean;
  /** True when nothing more is to come. */
  readonly isDone: boolean;
}

/**
 * A dialect that providers speak. Pure: no clock, no network, no state but a stream's own. Sending, retries, framing
 * and metering are the gate's.
 */
export interface Provider {
  encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest;
  /** Throws a ProviderFault when the body is an error or not an answer at all. */
  decodeReply(text: string, context: ReplyContext): DecodedReply;
  decodeStream(context: ReplyContext): StreamDecoder;
  /** Answers without a network, for models that are built in. */
  readonly answer?: (request: UpstreamRequest, signal: AbortSignal) => Promise<Response>;
}

/** What went wrong at a provider, in its own words. The gate decides what the caller is told. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  /** The HTTP status, or the one that an error inside a 200 stands for. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;

  constructor(
    message: string,
    facts: { readonly status?: number | undefined; readonly code?: string | undefined; readonly param?: string | undefined } = {},
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
  }
}
