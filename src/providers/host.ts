import type { FinishReason, JsonObject } from '../openai/types.ts';
import type { CacheAbility } from './cache-marks.ts';
import type { DialectName } from './dialect-names.ts';

/** A known host and how it deviates from the chat-completions dialect. Most hosts speak that dialect, so requests are relayed. */
export interface Host {
  /** The display name. */
  readonly name: string;
  /** The dialect, when it is not chat completions. */
  readonly dialect?: Exclude<DialectName, 'sandbox'>;
  /** The address. A part in braces is filled in from the environment variable of that name. */
  readonly baseUrl: string;
  /** The environment variable that enables the host's models when set. For a self-hosted server, the key it may require. */
  readonly keyVariable: string;
  /** The environment variable that enables a self-hosted server by its address. Such a server needs no key. */
  readonly addressVariable?: string;
  /** Paths of the model list, relative to the address. The first one found is used. Defaults to `models`. */
  readonly modelLists?: readonly string[];
  /** The host counts reasoning tokens in addition to completion tokens, where the dialect includes them. */
  readonly countsReasoningApart?: true;
  readonly request?: RequestQuirks;
  readonly reply?: ReplyQuirks;
  /** Deviations that apply only to some models. The first matching pattern is used. */
  readonly models?: readonly ModelQuirks[];
  /** For the docs only: read by scripts/support-matrix.ts, not by the gateway. */
  readonly limits?: LimitHeaders;
  /** Its models search the web on every request. */
  readonly alwaysSearches?: true;
  /**
   * The host keeps generating, and charging, after the caller disconnects. From OpenRouter's list of hosts, unchecked.
   * For the docs only, like `limits`.
   */
  readonly billsAfterAbort?: true;
}

/** Changes that make a request acceptable to the host. */
export interface RequestQuirks {
  /** Fields that have another name at this host. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Fields that the host refuses or ignores. They are left out and reported to the caller. */
  readonly drops?: readonly string[];
  /** Objects of which only the listed fields are sent. The other fields would change the cost of the request. */
  readonly narrows?: Readonly<Record<string, readonly string[]>>;
  /** Fields that the host refuses and does not need. They are left out without any loss. */
  readonly omits?: readonly string[];
  /** Values that have another name at this host, by field. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The fields that replace `reasoning_effort`, by effort. */
  readonly efforts?: Readonly<Record<string, JsonObject>>;
  /** The other fields for reasoning that the host knows. Elsewhere they become `reasoning_effort`. */
  readonly reasoningFields?: readonly ReasoningField[];
  readonly toolChoice?: ToolChoiceLimit;
  /** Fields added to every request. */
  readonly adds?: JsonObject;
  readonly temperatureMax?: number;
  /** The host does not fetch URLs. Media given by URL is put into the request. */
  readonly needsInlineMedia?: true;
  /** The host returns one choice per request. Several choices take several requests. */
  readonly isSingleChoice?: true;
  /** The host does not support response schemas. JSON mode is requested instead, with the schema in the prompt. */
  readonly hasNoJsonSchema?: true;
  /** The host demands parameters of functions in a strict form, and refuses the request otherwise. */
  readonly hasTypedSchemas?: true;
  /** The host supports response schemas, but not JSON mode. JSON is then requested in the prompt. */
  readonly hasNoJsonMode?: true;
  /** The host does not support JSON mode together with tools. JSON is then requested in the prompt. */
  readonly hasNoJsonWithTools?: true;
  /** How the host treats cache marks. Undefined when they pass through unchanged. */
  readonly cacheMarks?: CacheAbility;
  readonly messages?: MessageQuirks;
}

/**
 * The forms of `tool_choice` that are accepted, where not all are: `auto` alone, those that force no call, those that
 * name no tool, or all of them as long as the model does not think.
 */
export type ToolChoiceLimit = 'auto' | 'unforced' | 'unnamed' | 'unthinking';

/** Fields with which other APIs set how much a model reasons: OpenRouter's and Anthropic's. Clients send them to every model. */
export type ReasoningField = 'reasoning' | 'thinking';

/** Changes to the messages of a request. */
export interface MessageQuirks {
  /** Roles that have another name at this host. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Message fields that the host refuses. */
  readonly drops?: readonly string[];
  /**
   * The host knows only the basic part of OpenAI's schema. It refuses `null` for "not set", tools without parameters, a
   * list of allowed tools, tool calls without arguments, a refusal apart from the content, and the legacy tool format.
   */
  readonly hasBasicSchema?: true;
  /** The host refuses anything outside OpenAI's own message schema: reasoning, cache marks, fields that streams add to tool calls. */
  readonly stripsExtensions?: true;
  /** The host supports thinking parts, so `stripsExtensions` keeps them. */
  readonly hasThinkingParts?: true;
  /** Tool-call ids must have exactly nine letters and digits. */
  readonly hasShortToolIds?: true;
  /** The longest accepted tool-call id. */
  readonly toolIdCharactersMax?: number;
  /** Tool results must name their function, even where `drops` removes the name of other messages. */
  readonly namesToolResults?: true;
  /** The only system message is the first one, so all of them are joined there. */
  readonly joinsSystem?: true;
  /** The user and the assistant must take turns, so what one of them said in a row is joined. */
  readonly joinsTurns?: true;
  /** A user message must not follow a tool result. An answer is put between them. */
  readonly answersResults?: true;
  /** The field that marks a final assistant message as one to continue. */
  readonly continues?: 'prefix' | 'partial';
  /** Every assistant message must carry its reasoning, even if empty. */
  readonly wantsReasoning?: true;
  /** An assistant message with tool calls must carry its reasoning. An empty string does not count. */
  readonly wantsReasoningOfCalls?: true;
  /** The field for earlier reasoning, which `stripsExtensions` keeps. `reasoning_content` is still stripped. */
  readonly reasoningField?: 'reasoning';
  /** The part type for files, which holds the file's URL. */
  readonly filePart?: 'document_url';
}

/**
 * Changes that make an answer readable for OpenAI clients. The first four fields are for the docs only: the gateway
 * detects those deviations in any host's answers.
 */
export interface ReplyQuirks {
  /** The field that holds the reasoning, when it is not `reasoning_content`. */
  readonly reasoningField?: 'reasoning';
  /** Content may be a list that includes thinking parts. */
  readonly hasThinkingParts?: true;
  /** Tool calls may lack their index, type, id or arguments. */
  readonly hasBareToolCalls?: true;
  /** A stream reports usage in the choice instead of the chunk. */
  readonly hasUsageInChoice?: true;
  /** A stream may send the same piece of reasoning twice in a row. */
  readonly repeatsReasoning?: true;
  /** Finish reasons that the dialect does not have, and their equivalents. */
  readonly finish?: Readonly<Record<string, FinishReason>>;
  /** Finish reasons that are failures, and the status each stands for. */
  readonly faults?: Readonly<Record<string, number>>;
  /** Fields that hold the cached-token count, besides `prompt_tokens_details`. */
  readonly cachedTokens?: readonly string[];
  /** Cached tokens may be counted in addition to the prompt tokens instead of among them. */
  readonly countsCachedApart?: true;
  /** The name of an object that may report an error through a non-zero code, and the status of each code. */
  readonly statusObject?: { readonly name: string; readonly statuses: Readonly<Record<string, number>> };
}

/** What one family of models refuses or expects in a different form. */
export interface ModelQuirks {
  readonly pattern: RegExp;
  readonly drops: readonly string[];
  /** Fields refused only while reasoning, when the effort is anything but `none`. */
  readonly dropsWhileReasoning?: readonly string[];
  /** The models reason unless the effort is `none`. Others reason only if the request sets an effort. */
  readonly reasonsByDefault?: true;
  /** The models accept tools only without reasoning. */
  readonly hasNoReasoningWithTools?: true;
  /** The models accept no tools, because they accept none while reasoning and always reason. */
  readonly hasNoTools?: true;
  /** The models accept tools only without an effort, and then reason as they do by default. */
  readonly hasNoEffortWithTools?: true;
  /** The following are as in `RequestQuirks`, and take precedence over it. */
  readonly renames?: RequestQuirks['renames'];
  readonly efforts?: RequestQuirks['efforts'];
  readonly toolChoice?: ToolChoiceLimit;
  readonly messages?: MessageQuirks;
}

/** How the host reports its rate limits. For the docs only. */
export interface LimitHeaders {
  /** The response headers that report the remaining quota. */
  readonly remaining: readonly string[];
  readonly retryAfter?: 'seconds' | 'milliseconds' | 'in the error';
}
