import { isObject, type JsonObject } from '../../openai/types.ts';
import type { ReplyContext, Target } from '../provider.ts';

/** What must come back with a tool call: the reasoning before it, and whose it is. */
export function keepReasoning(blocks: readonly JsonObject[], { providerModel = '' }: ReplyContext): string {
  return JSON.stringify({ model: nameOf(providerModel), reasoning: blocks });
}

/** The reasoning that was kept for a tool call. A signature holds for the model that made it: no other one is sent it. */
export function recallReasoning(id: string, { carried, model }: Target): readonly JsonObject[] {
  const text = carried?.get(id);
  const kept: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(kept) || kept['model'] !== nameOf(model) || !Array.isArray(kept['reasoning'])) return [];
  return kept['reasoning'].filter(isObject);
}

/** One model may be reached through profiles of several regions. */
function nameOf(model: string): string {
  return model.replace(/^(?:us|us-gov|eu|apac|au|jp|ca|global)\./u, '');
}
