import type { JsonObject } from '../openai/types.ts';
import type { CacheAbility } from './cache-marks.ts';
import type { DialectName } from './provider.ts';
import type { FinishReason } from './envelope.ts';

/** A known host: most speak the chat-completions dialect, so that requests can be relayed to them, and how each differs from it. */
export interface Host {
  /** Its name for people. */
  readonly name: string;
  /** What it speaks, where that is not the chat-completions dialect. */
  readonly dialect?: Exclude<DialectName, 'sandbox'>;
  /** Where it is. A part in braces is filled in from the environment variable of that name. */
  readonly baseUrl: string;
  /** The environment variable whose presence switches the host's models on; for a server of your own the key that it may ask for. */
  readonly keyVariable: string;
  /** A server of your own is switched on by its address, and needs no key. */
  readonly addressVariable?: string;
  /** Where it lists its models, seen from its address: the first that is there counts. `models`, where nothing is said. */
  readonly modelLists?: readonly string[];
  /** This host counts reasoning tokens beside the completion tokens, where the dialect counts them among them. */
  readonly countsReasoningApart?: true;
  readonly request?: RequestQuirks;
  readonly reply?: ReplyQuirks;
  /** What only some of its models refuse: the first pattern that matches counts. */
  readonly models?: readonly ModelQuirks[];
  /** For the docs only: scripts/support-matrix.ts reads it, the gate does not. */
  readonly limits?: LimitHeaders;
  /** Its models search the web with every request. */
  readonly searchesUnasked?: true;
  /** When the caller leaves, this host goes on writing and charges for it: so OpenRouter's list of hosts, unchecked. For the docs only, as `limits`. */
  readonly billsAfterAbort?: true;
}

/** How a request must be changed, so that the host takes it. */
export interface RequestQuirks {
  /** Fields that have another name here. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Fields that the host refuses or does not look at. They are left out, and the caller is told. */
  readonly drops?: readonly string[];
  /** Objects of which only these fields are sent: the others would change what the request costs. */
  readonly narrows?: Readonly<Record<string, readonly string[]>>;
  /** Fields that the host refuses and does not need. They are left out, and nothing is lost. */
  readonly omits?: readonly string[];
  /** Values that are called something else here, by field. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What says a `reasoning_effort` here, by effort: these fields take its place. */
  readonly efforts?: Readonly<Record<string, JsonObject>>;
  /** Fields to send with every request. */
  readonly adds?: JsonObject;
  readonly temperatureMax?: number;
  /** It gives one answer to a request: who wants several must ask several times. */
  readonly isSingleChoice?: true;
  /** A schema for the answer is not taken: JSON is asked for, and the schema is put into words. */
  readonly hasNoJsonSchema?: true;
  /** JSON is not given beside tools: there it is asked for in words. */
  readonly hasNoJsonWithTools?: true;
  /** What the host does with marks for its cache; undefined where they pass as they are. */
  readonly cacheMarks?: CacheAbility;
  readonly messages?: MessageQuirks;
}

/** How the messages of a request must be changed. */
export interface MessageQuirks {
  /** Roles that have another name here. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Fields of a message that the host refuses. */
  readonly drops?: readonly string[];
  /** `null` is a mistake here instead of "not set". */
  readonly stripsNulls?: true;
  /** Whatever is not in OpenAI's own description of a message is refused: reasoning, cache marks, what streams add to tool calls. */
  readonly stripsExtensions?: true;
  /** Parts of the thinking are known here, and are no such extension. */
  readonly hasThinkingParts?: true;
  /** Ids of tool calls have exactly nine letters and digits. */
  readonly hasShortToolIds?: true;
  /** Ids of tool calls that are longer are refused. */
  readonly toolIdCharactersMax?: number;
  /** The result of a tool names its function, also where other messages have no name. */
  readonly namesToolResults?: true;
  /** The field that says that a last message of the assistant is to be continued. */
  readonly continues?: 'prefix' | 'partial';
  /** Every message of the assistant says its reasoning, and be it empty. */
  readonly wantsReasoning?: true;
  /** A message of the assistant that calls tools says its reasoning, and an empty text is none. */
  readonly wantsReasoningOfCalls?: true;
  /** Where earlier reasoning belongs, which is no such extension either; `reasoning_content` is. */
  readonly reasoningField?: 'reasoning';
  /** A file is a part of this name that holds its address. */
  readonly filePart?: 'document_url';
}

/** How an answer must be changed, so that clients of the dialect understand it. The first four are for the docs only: they show, whoever says so. */
export interface ReplyQuirks {
  /** Where the reasoning is, other than in `reasoning_content`. */
  readonly reasoningField?: 'reasoning';
  /** Content may be a list with parts of the thinking among it. */
  readonly hasThinkingParts?: true;
  /** Tool calls come without their index, type, id or arguments. */
  readonly hasBareToolCalls?: true;
  /** Usage of a stream is in the choice, not in the chunk. */
  readonly hasUsageInChoice?: true;
  /** A piece of the reasoning may come twice in a stream, one right after the other. */
  readonly repeatsReasoning?: true;
  /** Reasons to stop that the dialect does not know. */
  readonly finish?: Readonly<Record<string, FinishReason>>;
  /** Reasons to stop that are failures, with the status they stand for. */
  readonly faults?: Readonly<Record<string, number>>;
  /** Where cached tokens are counted, other than in `prompt_tokens_details`. */
  readonly cachedTokens?: readonly string[];
  /** Cached tokens may be counted beside the prompt tokens instead of among them. */
  readonly countsCachedApart?: true;
  /** An error may be in an object of this name, with a code that is not 0 and the status each code stands for. */
  readonly statusObject?: { readonly name: string; readonly statuses: Readonly<Record<string, number>> };
}

/** What the models of one kind refuse, or are told in their own way. */
export interface ModelQuirks {
  readonly pattern: RegExp;
  readonly drops: readonly string[];
  /** What they refuse only while they reason: when an effort other than `none` is asked for. */
  readonly dropsAwake?: readonly string[];
  /** They take tools only when they do not reason. */
  readonly restsWithTools?: true;
  /** As in RequestQuirks, and counting before those. */
  readonly efforts?: RequestQuirks['efforts'];
  readonly messages?: MessageQuirks;
}

/** How the host tells its limits, for the docs only. */
export interface LimitHeaders {
  /** The headers of answers that tell what is left. */
  readonly remaining: readonly string[];
  readonly retryAfter?: 'seconds' | 'milliseconds' | 'in the error';
}
