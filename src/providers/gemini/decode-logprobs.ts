import { Buffer } from 'node:buffer';
import { isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../openai/types.ts';

/** Returns the log probabilities of an answer or a piece of one. Undefined if not reported. */
export function decodeLogprobs(result: unknown): JsonObject | undefined {
  if (!isObject(result) || !Array.isArray(result['chosenCandidates'])) return undefined;
  const alternatives = Array.isArray(result['topCandidates']) ? result['topCandidates'] : [];
  const content = result['chosenCandidates'].filter(isObject).map((chosen, index) => {
    const others: unknown = alternatives[index];
    const candidates = objectsOf(objectOf(others)['candidates']);
    return { ...writeToken(chosen), top_logprobs: candidates.map(writeToken) };
  });
  return { content, refusal: null };
}

/** The dialect's value for a next-to-impossible token. */
const IMPOSSIBLE = -9999;

function writeToken({ token, logProbability }: JsonObject): JsonObject {
  const text = textOf(token);
  return { token: text, logprob: typeof logProbability === 'number' ? logProbability : IMPOSSIBLE, bytes: [...Buffer.from(text, 'utf8')] };
}
