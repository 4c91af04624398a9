import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { gemini } from '../../../src/providers/gemini/gemini.ts';
import { CONTEXT } from './given.ts';

const reported = (token: unknown, logProbability?: number): JsonObject => ({ token, tokenId: 1, logProbability });
const read = (token: string, logprob: number): JsonObject => ({ token, logprob, bytes: [...Buffer.from(token)] });
const result = (token: string): JsonObject => ({
  logprobsResult: { chosenCandidates: [reported(token, -1)], topCandidates: [{ candidates: [reported(token, -1)] }] },
});
const written = (token: string): JsonObject => ({ content: [{ ...read(token, -1), top_logprobs: [read(token, -1)] }], refusal: null });

/** Returns the log probabilities of the chunks for events with these candidates. */
function logprobsOf(...candidates: readonly JsonObject[]): unknown[] {
  const decoder = gemini.decodeStream(CONTEXT);
  const chunks = candidates.flatMap((candidate) => decoder.push({ name: undefined, data: JSON.stringify({ candidates: [candidate] }) }));
  return chunks.map((chunk) => (JSON.parse(chunk) as { choices: JsonObject[] }).choices[0]?.['logprobs']);
}

describe('log probabilities', () => {
  test('go with the last delta of their event, or alone', () => {
    const parts = [{ text: 'Hm', thought: true }, { text: 'a' }];
    expect(logprobsOf({ content: { parts }, ...result('a') }, result('b'), { finishReason: 'STOP' })).toEqual([
      null,
      null,
      written('a'),
      written('b'),
      null,
    ]);
  });

  test.each<[string, unknown, unknown]>([
    [
      'without alternatives',
      { chosenCandidates: [reported('é', -1)] },
      { content: [{ ...read('é', -1), top_logprobs: [] }], refusal: null },
    ],
    [
      'without numbers',
      { chosenCandidates: [reported(7)], topCandidates: ['x'] },
      { content: [{ ...read('', -9999), top_logprobs: [] }], refusal: null },
    ],
    ['that are absent', {}, null],
    ['that are invalid', 'x', null],
  ])('%s are read as far as possible', (_, logprobsResult, expected) => {
    expect(logprobsOf({ content: { parts: [{ text: 'a' }] }, logprobsResult }).at(-1)).toEqual(expected);
  });
});
