import { isObject, type JsonObject } from '../../openai/types.ts';
import type { ReplyContext, Target } from '../provider.ts';

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

/** Drops the region: one model may be reached through the profiles of several regions. */
function nameOf(model: string): string {
  return model.replace(/^(?:us|us-gov|eu|apac|au|jp|ca|global)\./u, '');
}
