import { Buffer } from 'node:buffer';
import { isObject, type JsonObject } from '../../openai/types.ts';

/** How likely the model found each token of an answer, or of a piece of one; undefined where it does not say. */
export function decodeLogprobs(result: unknown): JsonObject | undefined {
  if (!isObject(result) || !Array.isArray(result['chosenCandidates'])) return undefined;
  const alternatives = Array.isArray(result['topCandidates']) ? result['topCandidates'] : [];
  const content = result['chosenCandidates'].filter(isObject).map((chosen, index) => {
    const others: unknown = alternatives[index];
    const candidates = isObject(others) && Array.isArray(others['candidates']) ? others['candidates'].filter(isObject) : [];
    return { ...writeToken(chosen), top_logprobs: candidates.map(writeToken) };
  });
  return { content, refusal: null };
}

/** The dialect's word for a token that is next to impossible. */
const IMPOSSIBLE = -9999;

function writeToken({ token, logProbability }: JsonObject): JsonObject {
  const text = typeof token === 'string' ? token : '';
  return { token: text, logprob: typeof logProbability === 'number' ? logProbability : IMPOSSIBLE, bytes: [...Buffer.from(text, 'utf8')] };
}
