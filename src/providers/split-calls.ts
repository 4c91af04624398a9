import { isObject, type JsonObject, type WireChunk } from '../openai/types.ts';

/**
 * The same chunk, but with one piece of a tool call at a time. Hosts that give several calls at once put them into one list,
 * which the dialect allows; OpenAI never does, and so there are clients that look at the first entry of a list only.
 */
export function splitCalls(chunk: WireChunk, choices: readonly unknown[]): readonly WireChunk[] {
  if (!choices.some((choice) => callsOf(choice).length > 1)) return [chunk];
  const pieces = choices.flatMap(splitChoice);
  return pieces.map((choice) => ({ ...chunk, choices: [choice] }));
}

/** What is said beside the calls stays with the first, and the end of the choice comes with the last. */
function splitChoice(choice: unknown): unknown[] {
  const calls = callsOf(choice);
  if (calls.length < 2 || !isObject(choice)) return [choice];
  return calls.map((call, position) => ({
    ...choice,
    delta: { ...(position === 0 ? (choice['delta'] as JsonObject) : {}), tool_calls: [call] },
    logprobs: position === 0 ? (choice['logprobs'] ?? null) : null,
    finish_reason: position === calls.length - 1 ? choice['finish_reason'] : null,
  }));
}

function callsOf(choice: unknown): readonly unknown[] {
  const delta = isObject(choice) ? choice['delta'] : undefined;
  const calls = isObject(delta) ? delta['tool_calls'] : undefined;
  return Array.isArray(calls) ? (calls as unknown[]) : [];
}
