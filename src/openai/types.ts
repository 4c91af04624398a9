/** The chat-completions dialect: what we promise to callers and what relayed providers speak. */

/** A validated request. Fields that we do not know are kept: they are the provider's business. */
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

/** Token counts as the dialect spells them: `prompt_tokens` includes the cached ones, `completion_tokens` the reasoning. */
export interface WireUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [field: string]: unknown;
}

/** A streamed chunk, as far as the gate looks into it. */
export interface WireChunk {
  id?: unknown;
  created?: unknown;
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
  error?: unknown;
  [field: string]: unknown;
}

/** A JSON object from outside, before anything is known about its fields. */
export type JsonObject = Record<string, unknown>;

/** Narrows a parsed JSON value to an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object, or one without fields in the place of anything else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list, or none where there is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
