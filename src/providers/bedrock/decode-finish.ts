import type { FinishReason } from '../../openai/types.ts';
import { lookUp } from '../look-up.ts';
import { ProviderFault } from '../dialect.ts';

/** Returns the finish reason. Malformed output is a failure. An unknown reason becomes a plain stop. */
export function decodeFinish(reason: unknown, hasToolCalls: boolean): FinishReason {
  const name = String(reason);
  if (name.startsWith('malformed_')) throw new ProviderFault(`The model broke off its answer: ${name}`, { status: 502, code: name });
  const finish = lookUp(FINISH_REASONS, name) ?? 'stop';
  // A call of a tool that the provider ran itself is none for the caller.
  return finish === 'stop' || finish === 'tool_calls' ? (hasToolCalls ? 'tool_calls' : 'stop') : finish;
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};
