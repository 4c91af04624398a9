import type { TokenUsage } from '../tokens.ts';
import type { RequestText } from '../openai/request-text.ts';
import type { ChatRequest, JsonObject, WireUsage } from '../openai/types.ts';
import type { SseEvent } from '../http/sse.ts';
import type { Host } from './host.ts';

/** What a provider can speak: the dialects, by the names that the settings use. `sandbox` is built in. */
export const DIALECT_NAMES = ['openai', 'anthropic', 'anthropic-vertex', 'gemini', 'gemini-vertex', 'bedrock', 'azure'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number] | 'sandbox';

/** Where a request goes: the provider's address and key, and what the model is called there. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** An output limit to set because the caller set none and the account cannot pay for the model's maximum. */
  readonly outputTokensMax: number | undefined;
  /** The request as its caller wrote it, for who passes most of it on. */
  readonly source?: RequestText | undefined;
  /** How a host of the relayed dialect differs from it, where it does. */
  readonly host?: Host | undefined;
  /** The dated version of the API, where addresses have one. */
  readonly apiVersion?: string | undefined;
  /** For providers whose requests are signed; without it the key is sent. */
  readonly aws?: AwsCredentials | undefined;
  /** What earlier answers gave us to keep, by tool-call id: see `DecodedReply.carried`. */
  readonly carried?: ReadonlyMap<string, string> | undefined;
  /** Asks for the rest of an answer that broke off: see `DecodedReply.continuation`. */
  readonly continuation?: string | undefined;
  /** The model is sold with searches: what they cost is in its prices, so that it may be asked to search the web. */
  readonly maySearch?: boolean;
}

/** What signs requests to AWS, and the region that they are signed for. */
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
  /** Fields of the caller's request that the provider has no way to honour; the caller is told. */
  readonly dropped?: readonly string[];
}

/** What a decoder must know about the request it answers. */
export interface ReplyContext {
  /** Our id of the model, which is what the caller asked for and gets back. */
  readonly modelId: string;
  /** What the model is called at the provider, as in Target. */
  readonly providerModel?: string;
  readonly wantsUsage: boolean;
  /** The request itself: some answers can only be read with the question at hand. */
  readonly chat: ChatRequest;
  /** For dialects whose answers have no id or time of their own. */
  readonly requestId: string;
  readonly createdSeconds: number;
  readonly host?: Host | undefined;
  /** As in Target: this answer is the rest of one that broke off, so its role was told already, its tool calls are counted on, and the next continuation may have to include it. */
  readonly continuation?: string | undefined;
  /** One of several answers that are asked for apart and told as the choices of one: they have this index, and our id and time. */
  readonly choiceIndex?: number | undefined;
}

/** A whole answer in the dialect. */
export interface DecodedReply {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
  /** Everything that the model said, for our own count where the provider reports no usage. */
  readonly outputText: string;
  /**
   * What the provider wants back with the next turn and callers do not keep, such as signatures of its reasoning: by the
   * id of the tool call that the caller will answer. The gate remembers it and gives it to `encodeRequest`.
   */
  readonly carried?: ReadonlyMap<string, string>;
  /** The provider stopped for reasons of its own; the same request with this value gives the rest. */
  readonly continuation?: string | undefined;
}

/** Events that say a bit of text each, as they go to the caller, and where in a packet they ended. */
export interface Tokens {
  readonly text: string;
  readonly end: number;
}

/** Turns a provider's events into the dialect's chunks, and watches what passes. */
export interface StreamDecoder {
  /** The chunks that one event gives, as JSON texts. Throws a ProviderFault when the event reports an error. */
  push(event: SseEvent): readonly string[];
  /** Takes the events at the start of these bytes that are known, without parsing them, to say a bit of text and nothing else. Undefined where there is none. */
  takeTokens?(bytes: Buffer, start: number, end: number): Tokens | undefined;
  /** The chunk that carries the usage, sent last and only to callers that asked for it. */
  usageChunk(usage: WireUsage): string;
  /** Ends every choice that is still open with `length`: the chunks of an answer that the gate cuts off. */
  cut(): readonly string[];
  /** What the provider reported, as it spelled it and as we read it. */
  readonly wireUsage: WireUsage | undefined;
  readonly usage: TokenUsage | undefined;
  readonly outputText: string;
  /** How long it is, where only its beginning was kept. */
  readonly outputLength?: number;
  /** True once something of the answer itself has come, not only its envelope. */
  readonly hasOutput: boolean;
  /** True once every choice has its finish reason, or the provider said that it is done. */
  readonly isComplete: boolean;
  /** True when nothing more is to come. */
  readonly isDone: boolean;
  /** As in DecodedReply. */
  readonly carried?: ReadonlyMap<string, string>;
  readonly continuation?: string | undefined;
}

/**
 * A dialect that providers speak. Pure: no clock, no network, no state but a stream's own; only the sandbox, which
 * answers itself, has the time. Sending, retries, framing and metering are the gate's.
 */
export interface Provider {
  encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest;
  /** Throws a ProviderFault when the body is an error or not an answer at all. */
  decodeReply(text: string, context: ReplyContext): DecodedReply;
  decodeStream(context: ReplyContext): StreamDecoder;
  /** Reads an error answer; without it, an error is read as the relayed dialect spells it. */
  readonly decodeFault?: (text: string, status: number | undefined, header: (name: string) => string | null) => ProviderFault;
  /** True when a request without an output limit is refused: then the model's maximum is sent. */
  readonly needsOutputLimit?: true;
  /** The longest answer that is given in one piece, in tokens: one that may be longer is asked for as a stream. */
  readonly wholeTokensMax?: number;
  /** True when `n` is passed on: several choices come with one answer, unless its host has only one. Else `n` is the gate's business. */
  readonly givesChoices?: true;
  /** True when an answer may break off and be asked for its rest: see `DecodedReply.continuation`. */
  readonly breaksOff?: true;
  /** True when it counts the output limit over all parts of such an answer: each is asked for with the whole of it. */
  readonly limitsAllParts?: true;
  /** True when it can use what earlier answers gave us to keep: see `DecodedReply.carried`. */
  readonly recalls?: true;
  /** How a stream is cut into events, where that is not by server-sent events. */
  readonly framing?: 'aws-event-stream';
  /** True when the provider fetches nothing itself: media given by an address must be put into the request. */
  readonly needsInlineMedia?: true;
  /** Which addresses such a provider fetches after all. */
  readonly fetchesItself?: (url: string) => boolean;
  /** Adds what only the moment of sending knows, such as a signature with its time. */
  readonly sign?: (request: UpstreamRequest, target: Target, nowMs: number) => Promise<UpstreamRequest>;
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
  /** Where the provider says in its body when to come back. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: Partial<Pick<ProviderFault, 'status' | 'code' | 'param' | 'retryAfterSeconds'>> = {}) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** A request that cannot be put into a dialect without changing what it asks for. */
export function refusal(param: string, message: string): ProviderFault {
  return new ProviderFault(message, { status: 400, param });
}
