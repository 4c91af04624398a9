import type { TokenUsage } from '../tokens.ts';
import type { RequestText } from '../openai/request-text.ts';
import type { ChatRequest, JsonObject, WireUsage } from '../openai/types.ts';
import type { Outbox } from '../http/outbox.ts';
import type { SseEvent } from '../http/sse.ts';
import type { Host } from './host.ts';

/** The destination of a request: the provider's address and key, and the provider's name for the model. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** The output limit to send when the caller set none and the account cannot pay for the model's maximum. */
  readonly outputTokensMax: number | undefined;
  /** The caller's original request text, for dialects that relay most of it unchanged. */
  readonly source?: RequestText | undefined;
  /** How this host of the relayed dialect deviates from it. */
  readonly host?: Host | undefined;
  /** The dated API version, for providers whose addresses contain one. */
  readonly apiVersion?: string | undefined;
  /** Credentials for providers whose requests are signed. Without them the key is sent. */
  readonly aws?: AwsCredentials | undefined;
  /** Values kept from earlier answers, by tool-call id: see `DecodedReply.carried`. */
  readonly carried?: ReadonlyMap<string, string> | undefined;
  /** Requests the rest of an answer that broke off: see `DecodedReply.continuation`. */
  readonly continuation?: string | undefined;
  /** True when the model's prices include web searches, so that requests may ask for them. */
  readonly maySearch?: boolean;
}

/** The credentials that sign requests to AWS, and the region they are signed for. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

/** An HTTP request to a provider. */
export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Fields of the caller's request that the provider cannot honour. They are reported to the caller. */
  readonly dropped?: readonly string[];
}

/** What a decoder needs to know about the request being answered. */
export interface ReplyContext {
  /** Our model id, which the caller asked for and gets back. */
  readonly modelId: string;
  /** The provider's name for the model, as in `Target`. */
  readonly providerModel?: string;
  readonly wantsUsage: boolean;
  /** The request itself: some answers can only be decoded with it. */
  readonly chat: ChatRequest;
  /** For dialects whose answers carry no id or creation time. */
  readonly requestId: string;
  readonly createdSeconds: number;
  readonly host?: Host | undefined;
  /**
   * As in `Target`: this answer is the rest of one that broke off. Its role was already sent, its tool calls continue
   * the numbering, and the next continuation may have to include it.
   */
  readonly continuation?: string | undefined;
  /**
   * Set when each choice is requested separately and all are returned as one answer. The choice gets this index and our
   * own id and creation time.
   */
  readonly choiceIndex?: number | undefined;
}

/** A complete answer in the OpenAI dialect. */
export interface DecodedReply {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
  /** Everything the model said, for our own token count when the provider reports no usage. */
  readonly outputText: string;
  /**
   * Values the provider wants back with the next turn but clients do not keep, such as reasoning signatures. They are
   * keyed by the id of the tool call that the caller will answer. The gateway stores them and passes them to
   * `encodeRequest`.
   */
  readonly carried?: ReadonlyMap<string, string>;
  /** Set when the provider stopped early on its own. Sending the same request with this value returns the rest. */
  readonly continuation?: string | undefined;
}

/** Turns a provider's events into OpenAI chunks, and tracks usage and output on the way. */
export interface StreamDecoder {
  /** Returns the chunks for one event, as JSON text. Throws a ProviderFault when the event reports an error. */
  push(event: SseEvent): readonly string[];
  /**
   * Takes the leading events of these bytes that, without parsing, are known to carry only a piece of text, and adds them
   * to `out`, rewritten. Returns where they end: at the start when there are none.
   */
  takeTokens?(bytes: Buffer, start: number, end: number, out: Outbox): number;
  /** The chunk that carries the usage. It is sent last, and only to callers who asked for it. */
  usageChunk(usage: WireUsage): string;
  /** Returns the chunks that end every open choice with `length`, for an answer that the gateway cuts off. */
  cut(): readonly string[];
  /** The usage the provider reported: as spelled on the wire, and as parsed. */
  readonly wireUsage: WireUsage | undefined;
  readonly usage: TokenUsage | undefined;
  readonly outputText: string;
  /** The full length of the output, when only its beginning was kept. */
  readonly outputLength?: number;
  /** True once the stream has delivered part of the answer, not just its envelope. */
  readonly hasOutput: boolean;
  /** True once every choice has a finish reason, or the provider signalled the end of the stream. */
  readonly isComplete: boolean;
  /** True when no more events are expected. */
  readonly isDone: boolean;
  /** As in `DecodedReply`. */
  readonly carried?: ReadonlyMap<string, string>;
  readonly continuation?: string | undefined;
}

/**
 * A wire format that providers speak. Dialects are pure: no clock, no network, and no state beyond a stream's own. The
 * sandbox, which answers requests itself, is the one exception and reads the clock. The gateway handles sending,
 * retries, framing and metering.
 */
export interface Dialect {
  encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest;
  /** Throws a ProviderFault when the body is an error or not an answer. */
  decodeReply(text: string, context: ReplyContext): DecodedReply;
  decodeStream(context: ReplyContext): StreamDecoder;
  /** Reads an error response. One without a status came with 200. */
  decodeFault(text: string, status: number | undefined, header: (name: string) => string | null): ProviderFault;
  /** True when the provider refuses requests without an output limit. The gateway then sends the model's maximum. */
  readonly needsOutputLimit?: true;
  /** The longest answer, in tokens, that is requested without streaming. Requests that may exceed it are sent as streams. */
  readonly wholeTokensMax?: number;
  /**
   * False when the provider refuses to stream the answer to this request. It is then asked for the whole answer, which the gateway
   * presents as a stream.
   */
  readonly streams?: (chat: ChatRequest, model: string) => boolean;
  /** True when `n` is passed on and one answer holds all choices, unless the host supports only one. Otherwise the gateway handles `n`. */
  readonly givesChoices?: true;
  /** True when an answer may break off and be continued: see `DecodedReply.continuation`. */
  readonly breaksOff?: true;
  /** True when the provider applies the output limit to all parts together. Each part is then requested with the full limit. */
  readonly limitsAllParts?: true;
  /** True when the dialect uses values kept from earlier answers: see `DecodedReply.carried`. */
  readonly recalls?: true;
  /** The stream framing, when it is not server-sent events. */
  readonly framing?: 'aws-event-stream';
  /** True when the provider does not fetch URLs. Media given by URL must be inlined in the request. */
  readonly needsInlineMedia?: true;
  /** The URLs that such a provider fetches anyway. */
  readonly fetchesItself?: (url: string) => boolean;
  /** Adds whatever depends on the time of sending, such as a timestamped signature. */
  readonly sign?: (request: UpstreamRequest, target: Target, nowMs: number) => Promise<UpstreamRequest>;
  /** Answers without a network, for the built-in models. */
  readonly answer?: (request: UpstreamRequest, signal: AbortSignal) => Promise<Response>;
}

/** A failure at a provider, in the provider's words. The gateway decides what the caller sees. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  /** The HTTP status, or the equivalent status of an error inside a 200. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** The retry delay, when the provider states it in the error body. */
  readonly retryAfterSeconds: number | undefined;
  /** True when no model has seen the request, so that another provider may be asked. */
  readonly isUnsent: boolean;

  constructor(message: string, facts: Partial<Pick<ProviderFault, 'status' | 'code' | 'param' | 'retryAfterSeconds' | 'isUnsent'>> = {}) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.isUnsent = facts.isUnsent === true;
  }
}

/** Returns the fault for a request that the dialect cannot express without changing its meaning. */
export function refusal(param: string, message: string): ProviderFault {
  return new ProviderFault(message, { status: 400, code: 'unsupported_value', param });
}
