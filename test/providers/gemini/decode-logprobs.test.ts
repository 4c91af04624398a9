import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { gemini } from '../../../src/providers/gemini/gemini.ts';
import { CONTEXT } from './given.ts';

const told = (token: unknown, logProbability?: number): JsonObject => ({ token, tokenId: 1, logProbability });
const read = (token: string, logprob: number): JsonObject => ({ token, logprob, bytes: [...Buffer.from(token)] });
const result = (token: string): JsonObject => ({
  logprobsResult: { chosenCandidates: [told(token, -1)], topCandidates: [{ candidates: [told(token, -1)] }] },
});
const written = (token: string): JsonObject => ({ content: [{ ...read(token, -1), top_logprobs: [read(token, -1)] }], refusal: null });

/** What stands beside the deltas of a stream whose events have these candidates. */
function logprobsOf(...candidates: readonly JsonObject[]): unknown[] {
  const decoder = gemini.decodeStream(CONTEXT);
  const chunks = candidates.flatMap((candidate) => decoder.push({ name: undefined, data: JSON.stringify({ candidates: [candidate] }) }));
  return chunks.map((chunk) => (JSON.parse(chunk) as { choices: JsonObject[] }).choices[0]?.['logprobs']);
}

describe('how likely tokens were', () => {
  test('stands beside the last of the words that came with it, or alone', () => {
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
    ['without alternatives', { chosenCandidates: [told('é', -1)] }, { content: [{ ...read('é', -1), top_logprobs: [] }], refusal: null }],
    [
      'without numbers',
      { chosenCandidates: [told(7)], topCandidates: ['x'] },
      { content: [{ ...read('', -9999), top_logprobs: [] }], refusal: null },
    ],
    ['that is not told', {}, null],
    ['that is nothing', 'x', null],
  ])('%s is read as far as it is there', (_, logprobsResult, expected) => {
    expect(logprobsOf({ content: { parts: [{ text: 'a' }] }, logprobsResult }).at(-1)).toEqual(expected);
  });
});
