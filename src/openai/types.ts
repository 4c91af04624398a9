/** The chat-completions dialect: the format that we promise to clients and that relayed providers speak. */

/** A validated request. Unknown fields are kept for the provider. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Record<string, unknown>[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean; readonly [field: string]: unknown };
  readonly n?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly [field: string]: unknown;
}

/** Token counts as the dialect spells them: `prompt_tokens` includes cached tokens, `completion_tokens` includes reasoning. */
export interface WireUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [field: string]: unknown;
}

/** The finish reasons the dialect defines. Clients fail on any other. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A streamed chunk, as far as the gate reads it. */
export interface WireChunk {
  id?: unknown;
  created?: unknown;
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
  error?: unknown;
  [field: string]: unknown;
}

/** Returns the output limit that the client set, if any. The field has two names; the newer one takes precedence. */
export function callerLimitOf(chat: ChatRequest): number | undefined {
  return chat.max_completion_tokens ?? chat.max_tokens;
}

/** A JSON object from outside, before its fields are checked. */
export type JsonObject = Record<string, unknown>;

/** Narrows a parsed JSON value to an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, and an empty object otherwise. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the objects in a list; empty when the value is not a list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the value if it is a string, and an empty string otherwise. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value if it is a string that is not empty. */
export function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
