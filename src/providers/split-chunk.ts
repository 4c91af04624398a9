import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';

/**
 * Splits a chunk the way OpenAI sends it: each piece of a tool call on its own, and the end of a choice after all its
 * output. Some hosts put several calls into one list, or end a choice together with its last piece. The dialect allows
 * both, but some clients read only the first entry of a list or miss what comes with the end.
 */
export function splitChunk(chunk: WireChunk, choices: readonly unknown[]): readonly WireChunk[] {
  const pieces = choices.flatMap(splitChoice);
  return pieces.length === choices.length ? [chunk] : pieces.map((choice) => ({ ...chunk, choices: [choice] }));
}

function splitChoice(choice: unknown): unknown[] {
  if (!isObject(choice) || !isObject(choice['delta'])) return [choice];
  const { delta, finish_reason: reason } = choice;
  const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  const endsHere = typeof reason === 'string' && (calls.length > 0 || hasText(delta));
  if (calls.length < 2 && !endsHere) return [choice];
  // Citations are sent with the end.
  const { annotations, ...said } = delta;
  const first = calls.length === 0 ? said : { ...said, tool_calls: calls.slice(0, 1) };
  const open = { ...choice, finish_reason: null };
  return [
    { ...open, delta: endsHere ? first : { ...delta, ...first } },
    ...calls.slice(1).map((call) => ({ ...open, delta: { tool_calls: [call] }, logprobs: null })),
    ...(endsHere ? [{ ...choice, delta: annotations === undefined ? {} : { annotations }, logprobs: null }] : []),
  ];
}

function hasText(delta: JsonObject): boolean {
  return ['content', 'refusal', 'reasoning_content'].some((name) => typeof delta[name] === 'string' && delta[name] !== '');
}
