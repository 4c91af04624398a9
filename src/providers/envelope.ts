import type { JsonObject, WireUsage } from '../openai/types.ts';
import type { ReplyContext } from './provider.ts';

/** The finish reasons that the dialect knows; clients fail on any other. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One choice of a whole answer. */
export interface WholeChoice {
  readonly message: { readonly content: string | null } & JsonObject;
  readonly finish: FinishReason;
}

/** A whole answer around the choices of a translated dialect. Its usage is added when it is charged. */
export function writeCompletion(context: ReplyContext, choices: readonly WholeChoice[]): JsonObject {
  return {
    ...envelope(context, 'chat.completion'),
    choices: choices.map(({ message, finish }, index) => ({
      index,
      message: { role: 'assistant', refusal: null, ...message },
      logprobs: null,
      finish_reason: finish,
    })),
  };
}

/** A chunk around one piece of a translated stream. Where the caller asked for usage, every chunk says that it has none yet. */
export function writeChunk(context: ReplyContext, delta: JsonObject, place: { index?: number; finish?: FinishReason } = {}): string {
  const choices = [{ index: context.choiceIndex ?? place.index ?? 0, delta, logprobs: null, finish_reason: place.finish ?? null }];
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices, ...(context.wantsUsage ? { usage: null } : {}) });
}

/** The chunk that carries the usage of a translated stream. */
export function writeUsageChunk(context: ReplyContext, usage: WireUsage): string {
  return JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices: [], usage });
}

function envelope(context: ReplyContext, object: string): JsonObject {
  return { id: `chatcmpl-${context.requestId}`, object, created: context.createdSeconds, model: context.modelId };
}
