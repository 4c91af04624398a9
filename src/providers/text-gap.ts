import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';
import type { Gaps } from './chunk-template.ts';

/** The piece of text in a chunk that carries nothing else. */
interface TextGap extends Gaps {
  readonly isReasoning: boolean;
  /** Returns the chunk with another text and padding. */
  write(text: string, padding: string): WireChunk;
}

/** Finds the text of a chunk, as received and as rewritten. Returns undefined when the chunk has more to say, or ends a choice. */
export function findText(chunk: WireChunk, received: string): TextGap | undefined {
  const { choices, obfuscation } = chunk;
  const [choice, ...others] = choices as readonly unknown[];
  if (others.length > 0 || !isObject(choice) || typeof choice['finish_reason'] === 'string' || !isObject(choice['delta'])) return undefined;
  const piece = findPiece(choice['delta'], received);
  if (piece === undefined) return undefined;
  const padding = typeof obfuscation === 'string' ? obfuscation : undefined;
  return {
    field: piece.field,
    text: piece.text,
    padding,
    isReasoning: piece.field.startsWith('reasoning'),
    write: (text, other) => ({
      ...chunk,
      choices: [{ ...choice, delta: piece.write(text) }],
      ...(padding === undefined ? {} : { obfuscation: other }),
    }),
  };
}

/** The piece of an answer in a delta. */
interface Piece {
  readonly field: string;
  readonly text: string;
  write(text: string): JsonObject;
}

function findPiece(delta: JsonObject, received: string): Piece | undefined {
  const filled = Object.keys(delta).filter((name) => delta[name] !== null && delta[name] !== '');
  const names = filled.join(' ');
  if (names === 'tool_calls') return findArguments(delta);
  // We add the second name.
  const isReasoningTwice = names === 'reasoning reasoning_content' && !received.includes('"reasoning_content"');
  const [field = ''] = filled;
  const text = delta[field];
  if (typeof text !== 'string' || !(isReasoningTwice || TEXT_FIELDS.has(names))) return undefined;
  return { field, text, write: (other) => ({ ...delta, ...Object.fromEntries(filled.map((name) => [name, other])) }) };
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['content', 'reasoning_content']);

/** Finds the arguments in a piece that continues a call. */
function findArguments(delta: JsonObject): Piece | undefined {
  const calls: unknown = delta['tool_calls'];
  const call: unknown = Array.isArray(calls) && calls.length === 1 ? calls[0] : undefined;
  if (!isObject(call) || !isObject(call['function']) || Object.keys(call).length > 2 || !('index' in call)) return undefined;
  const { arguments: text, ...others } = call['function'];
  if (typeof text !== 'string' || Object.keys(others).length > 0) return undefined;
  return {
    field: 'arguments',
    text,
    write: (other) => ({ ...delta, tool_calls: [{ ...call, function: { arguments: other } }] }),
  };
}
