import { isObject, type JsonObject } from '../../openai/types.ts';
import { writeCitation, type FinishReason } from '../envelope.ts';
import type { Block } from './draft.ts';
import { ANSWER_TOOL, type ToolNames } from './tool-names.ts';

/** Why the model stopped, in the caller's words. */
export function decodeFinish(stopReason: unknown, toolCallCount: number): FinishReason {
  const finish = FINISH_REASONS[String(stopReason)];
  // A call of the tool that carries a JSON answer is an answer and no call.
  if (finish === 'tool_calls') return toolCallCount > 0 ? finish : 'stop';
  return finish ?? (toolCallCount > 0 ? 'tool_calls' : 'stop');
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  compaction: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** What the provider says about a refusal, where it says anything. */
export function decodeRefusal(stopReason: unknown, details: unknown): string | undefined {
  const explanation = stopReason === 'refusal' && isObject(details) ? details['explanation'] : undefined;
  return typeof explanation === 'string' ? explanation : undefined;
}

/** What a call of a tool is to the caller: a function, a tool that takes free text, or the answer itself. */
export function kindOfCall(name: string, names: ToolNames): 'answer' | 'custom' | 'function' {
  if (name === ANSWER_TOOL) return 'answer';
  return names.isCustom(names.decode(name)) ? 'custom' : 'function';
}

/** A text of the provider's; anything else counts as none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The pages that a text cites, for the stretch of the answer that the text takes. Places in the caller's own documents are no pages. */
export function decodeCitations({ citations, text }: Block, start: number): JsonObject[] {
  const end = start + textOf(text).length;
  return (Array.isArray(citations) ? citations : []).filter(isObject).flatMap(({ url, source, title }) => {
    // A result that the caller gave to cite from names its source, which may be anything.
    const address = textOf(url ?? source);
    return /^https?:/i.test(address) ? [writeCitation({ url: address, title: textOf(title), start, end })] : [];
  });
}
