import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';
import type { Gaps } from './chunk-template.ts';

/**
 * Finds the piece of text in a chunk that has been rewritten: of the answer, of reasoning, or of the arguments of a call. Returns undefined
 * when the chunk has more to say, or ends a choice.
 */
export function findText({ choices, obfuscation }: WireChunk, received: string): Gaps | undefined {
  const [choice, ...others] = choices as readonly unknown[];
  if (others.length > 0 || !isObject(choice) || typeof choice['finish_reason'] === 'string' || !isObject(choice['delta'])) return undefined;
  const piece = findPiece(choice['delta'], received);
  return piece === undefined ? undefined : { ...piece, padding: typeof obfuscation === 'string' ? obfuscation : undefined };
}

function findPiece(delta: JsonObject, received: string): Gaps | undefined {
  const filled = Object.keys(delta).filter((name) => delta[name] !== null && delta[name] !== '');
  const [field = '', second] = filled;
  const text = field === 'tool_calls' ? findArguments(delta['tool_calls']) : delta[field];
  if (typeof text !== 'string' || filled.length > 2) return undefined;
  if (second === undefined) return FIELDS.has(field) ? { field: field === 'tool_calls' ? 'arguments' : field, text } : undefined;
  // We add the second name where there was only the first.
  const isAdded = field === 'reasoning' && second === 'reasoning_content' && !received.includes('"reasoning_content"');
  return isAdded ? { field, text, addedField: second } : undefined;
}

const FIELDS: ReadonlySet<string> = new Set(['content', 'reasoning_content', 'tool_calls']);

/** Finds the arguments in a piece that continues a call. */
function findArguments(calls: unknown): unknown {
  const [call, ...others] = Array.isArray(calls) ? (calls as unknown[]) : [];
  if (others.length > 0 || !isObject(call) || !isObject(call['function'])) return undefined;
  const { function: called, index, ...fields } = call;
  const isContinued = index !== undefined && Object.keys(fields).length === 0 && Object.keys(called).length === 1;
  return isContinued ? called['arguments'] : undefined;
}
