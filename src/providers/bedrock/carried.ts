import { isObject, objectsOf, type ChatRequest, type JsonObject } from '../../openai/types.ts';
import type { ReplyContext, Target } from '../dialect.ts';
import { hasToolCalls } from '../repair-chunks.ts';

/** Returns what must be sent back with a tool call: the reasoning before it, and the model it came from. */
export function keepReasoning(blocks: readonly JsonObject[], { providerModel = '' }: ReplyContext): string {
  return JSON.stringify({ model: nameOf(providerModel), reasoning: blocks });
}

/** Returns the reasoning kept for a tool call. A signature is valid only for the model that made it, so no other model is sent it. */
export function recallReasoning(id: string, { carried, model }: Target): readonly JsonObject[] {
  const text = carried?.get(id);
  const kept: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(kept) || kept['model'] !== nameOf(model) || !Array.isArray(kept['reasoning'])) return [];
  return kept['reasoning'].filter(isObject);
}

/** True when the thoughts that must start the current round of tool calls are lost. */
export function lacksThoughts({ messages }: ChatRequest, target: Target): boolean {
  const [first] = objectsOf(startOfRound(messages)?.['tool_calls']);
  return first !== undefined && recallReasoning(String(first['id']), target).length === 0;
}

/** Returns the first message with tool calls since the last question. A user message next to results belongs to their turn. */
function startOfRound(messages: readonly JsonObject[]): JsonObject | undefined {
  let first: JsonObject | undefined;
  let turn: 'question' | 'answer' | 'results' = 'question';
  for (const message of messages) {
    const { role } = message;
    if (role === 'assistant') {
      if (turn === 'question') first = undefined;
      if (hasToolCalls(message)) first ??= message;
      turn = 'answer';
    } else if (role === 'tool') turn = 'results';
    else if (role === 'user' && turn === 'answer') turn = 'question';
  }
  return turn === 'question' ? undefined : first;
}

/** Drops the region: one model may be reached through the profiles of several regions. */
function nameOf(model: string): string {
  return model.replace(/^(?:us|us-gov|eu|apac|au|jp|ca|global)\./u, '');
}
