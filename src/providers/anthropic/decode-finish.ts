import { isObject, type FinishReason } from '../../openai/types.ts';
import { lookUp } from '../look-up.ts';

/** Returns the OpenAI finish reason for a stop reason. */
export function decodeFinish(stopReason: unknown, toolCallCount: number): FinishReason {
  const finish = lookUp(FINISH_REASONS, stopReason);
  // A call of the tool that carries the JSON answer is the answer, not a tool call.
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

/** Returns the provider's explanation of a refusal, if it gives one. */
export function decodeRefusal(stopReason: unknown, details: unknown): string | undefined {
  const explanation = stopReason === 'refusal' && isObject(details) ? details['explanation'] : undefined;
  return typeof explanation === 'string' ? explanation : undefined;
}
