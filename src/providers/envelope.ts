import type { JsonObject, WireUsage } from '../openai/types.ts';
import type { ReplyContext } from './provider.ts';

/** The finish reasons that the dialect knows; clients fail on any other. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One choice of a whole answer. */
export interface WholeChoice {
  readonly message: { readonly content: string | null } & JsonObject;
  readonly finish: FinishReason;
  readonly logprobs?: JsonObject | undefined;
}

/** A whole answer around the choices of a translated dialect. Its usage is added when it is charged. */
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

/** What stands beside a piece of a translated stream. */
export interface ChunkPlace {
  readonly index?: number;
  readonly finish?: FinishReason;
  readonly logprobs?: JsonObject | undefined;
}

/** A chunk around one piece of a translated stream. Where the caller asked for usage, every chunk says that it has none yet. */
export function writeChunk(context: ReplyContext, delta: JsonObject, place: ChunkPlace = {}): string {
  const { index = 0, logprobs = null, finish = null } = place;
  const choices = [{ index: context.choiceIndex ?? index, delta, logprobs, finish_reason: finish }];
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices, ...(context.wantsUsage ? { usage: null } : {}) });
}

/**
 * The chunk with everything that a choice of a translated stream cites, told once, at its end: of several lists clients keep the
 * last one only, or fail on the second.
 */
export function writeCitedChunk(context: ReplyContext, annotations: readonly JsonObject[], index = 0): readonly string[] {
  return annotations.length === 0 ? [] : [writeChunk(context, { annotations }, { index })];
}

/** The chunk that carries the usage of a translated stream. */
export function writeUsageChunk(context: ReplyContext, usage: WireUsage): string {
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices: [], usage });
}

/** A page that a stretch of the answer cites; its ends are counted in characters of the answer. */
export interface CitedPage {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** A citation as an annotation of the dialect. */
export function writeCitation({ url, title, start, end }: CitedPage): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title } };
}

function envelope(context: ReplyContext, object: string): JsonObject {
  return { id: `chatcmpl-${context.requestId}`, object, created: context.createdSeconds, model: context.modelId };
}
