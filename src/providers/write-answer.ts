import type { FinishReason, JsonObject, WireUsage } from '../openai/types.ts';
import type { ReplyContext } from './dialect.ts';

/** One choice of a complete answer. */
export interface WholeChoice {
  readonly message: { readonly content: string | null } & JsonObject;
  readonly finish: FinishReason;
  readonly logprobs?: JsonObject | undefined;
}

/** What a translated answer says. */
interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly JsonObject[];
  readonly annotations: readonly JsonObject[];
  readonly refusal?: string | undefined;
}

/** Writes the message of a complete answer. Its content is null only if it says something else. */
export function writeMessage({ text, reasoning, toolCalls, annotations, refusal }: Said): WholeChoice['message'] {
  return {
    content: text === '' && (toolCalls.length > 0 || refusal !== undefined) ? null : text,
    ...(refusal === undefined ? {} : { refusal }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
}

/** Builds a complete answer from the choices of a translated dialect. Usage is added when the request is charged. */
export function writeCompletion(context: ReplyContext, choices: readonly WholeChoice[]): JsonObject {
  return {
    ...envelope(context, 'chat.completion'),
    choices: choices.map(({ message, finish, logprobs = null }, index) => ({
      index,
      message: { role: 'assistant', refusal: null, ...message },
      logprobs,
      finish_reason: finish,
    })),
  };
}

/** The fields beside the delta in a chunk of a translated stream. */
export interface ChunkPlace {
  readonly index?: number;
  readonly finish?: FinishReason;
  readonly logprobs?: JsonObject | undefined;
}

/**
 * Builds a chunk around one delta of a translated stream. When the caller asked for usage, every chunk carries `usage:
 * null` until the last.
 */
export function writeChunk(context: ReplyContext, delta: JsonObject, place: ChunkPlace = {}): string {
  const { index = 0, logprobs = null, finish = null } = place;
  const choices = [{ index: context.choiceIndex ?? index, delta, logprobs, finish_reason: finish }];
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices, ...(context.wantsUsage ? { usage: null } : {}) });
}

/**
 * Builds the chunk with all citations of a choice in a translated stream. They are sent once, at the end: given several
 * lists, clients keep only the last one or fail on the second.
 */
export function writeCitedChunk(context: ReplyContext, annotations: readonly JsonObject[], index = 0): readonly string[] {
  return annotations.length === 0 ? [] : [writeChunk(context, { annotations }, { index })];
}

/** Builds the chunk that carries the usage of a translated stream. */
export function writeUsageChunk(context: ReplyContext, usage: WireUsage): string {
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices: [], usage });
}

/** A page cited by a span of the answer. The span's ends are character offsets in the answer. */
export interface CitedPage {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** Returns a citation as an OpenAI annotation. */
export function writeCitation({ url, title, start, end }: CitedPage): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title } };
}

function envelope(context: ReplyContext, object: string): JsonObject {
  return { id: `chatcmpl-${context.requestId}`, object, created: context.createdSeconds, model: context.modelId };
}
