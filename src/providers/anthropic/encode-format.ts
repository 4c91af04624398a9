import { isObject, objectOf, type JsonObject } from '../../openai/types.ts';
import type { Draft } from './draft.ts';

/** How the model is made to answer in JSON: by a grammar, by a tool it must call, or by an instruction. */
export interface AnswerFormat {
  readonly grammar?: JsonObject;
  readonly tool?: { readonly description: string; readonly schema: JsonObject };
  readonly instruction?: string;
}

/** Plans how to honour `response_format`. Only the grammar is enforced. The other ways depend on the model's cooperation. */
export function encodeFormat({ chat, capabilities, grammar, dropped }: Draft): AnswerFormat {
  const format = objectOf(chat['response_format']);
  if (format['type'] === 'json_object') return { instruction: JSON_ONLY };
  if (format['type'] !== 'json_schema') return {};
  const wanted = objectOf(format['json_schema']);
  if (!isObject(wanted['schema'])) return { instruction: JSON_ONLY };
  const schema = wanted['schema'];
  const enforced = grammar.encode(schema);
  if (enforced !== undefined) return { grammar: { type: 'json_schema', schema: enforced } };
  if (capabilities.takesForcedTools) return { tool: { description: describe(wanted), schema } };
  dropped.add('response_format');
  return { instruction: `${JSON_ONLY} It must be valid against this JSON schema: ${JSON.stringify(schema)}` };
}

const JSON_ONLY = 'Answer with one JSON object and nothing else: no introduction, no code fence.';

function describe({ name, description }: JsonObject): string {
  return `Gives the answer to the user, as ${String(name)}.${typeof description === 'string' ? ` ${description}` : ''}`;
}
