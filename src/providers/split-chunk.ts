import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';

/**
 * The same chunk, told as OpenAI would: each piece of a tool call by itself, and the end of a choice behind all that was said.
 * Hosts that give several calls at once put them into one list, and some end a choice together with its last piece. The dialect
 * allows it; but there are clients that look at the first entry of a list only, or miss what comes with the end.
 */
export function splitChunk(chunk: WireChunk, choices: readonly unknown[]): readonly WireChunk[] {
  const pieces = choices.flatMap(splitChoice);
  return pieces.length === choices.length ? [chunk] : pieces.map((choice) => ({ ...chunk, choices: [choice] }));
}

function splitChoice(choice: unknown): unknown[] {
  if (!isObject(choice) || !isObject(choice['delta'])) return [choice];
  const { delta, finish_reason: reason } = choice;
  const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  const endsHere = typeof reason === 'string' && (calls.length > 0 || saysSomething(delta));
  if (calls.length < 2 && !endsHere) return [choice];
  // Citations come with the end.
  const { annotations, ...said } = delta;
  const first = calls.length === 0 ? said : { ...said, tool_calls: calls.slice(0, 1) };
  const open = { ...choice, finish_reason: null };
  return [
    { ...open, delta: endsHere ? first : { ...delta, ...first } },
    ...calls.slice(1).map((call) => ({ ...open, delta: { tool_calls: [call] }, logprobs: null })),
    ...(endsHere ? [{ ...choice, delta: annotations === undefined ? {} : { annotations }, logprobs: null }] : []),
  ];
}

function saysSomething(delta: JsonObject): boolean {
  return ['content', 'refusal', 'reasoning_content'].some((name) => typeof delta[name] === 'string' && delta[name] !== '');
}
