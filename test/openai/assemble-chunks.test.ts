import { describe, expect, test } from 'bun:test';
import { AssembledAnswer } from '../../src/openai/assemble-chunks.ts';
import type { JsonObject } from '../../src/openai/types.ts';

const ENVELOPE = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 7, model: 'm' };
const chunk = (delta: unknown, more: JsonObject = {}): JsonObject => ({
  ...ENVELOPE,
  usage: null,
  choices: [{ index: 3, delta, logprobs: null, finish_reason: null, ...more }],
});
const ROLE = chunk({ role: 'assistant', content: '', refusal: null });
const piece = (index: number, call: JsonObject): JsonObject => chunk({ tool_calls: [{ index, ...call }] });

const logprobsOf = (token: string): JsonObject => ({ logprobs: { content: [token], refusal: null } });

function assemble(...chunks: readonly JsonObject[]): JsonObject {
  const answer = new AssembledAnswer();
  for (const each of chunks) answer.add(each);
  return answer.read();
}

describe('assembled chunks', () => {
  test.each<[string, readonly JsonObject[], JsonObject]>([
    ['text', [chunk({ content: 'Hel' }), chunk({ content: 'lo' })], { content: 'Hello' }],
    ['nothing', [], { content: '' }],
    [
      'reasoning and citations',
      [chunk({ reasoning_content: 'H' }), chunk({ reasoning_content: 'm' }), chunk({ annotations: [1] }), chunk({ annotations: [2] })],
      { content: '', reasoning_content: 'Hm', annotations: [1, 2] },
    ],
    ['a refusal', [chunk({ refusal: 'No' }), chunk({ refusal: '.' })], { content: null, refusal: 'No.' }],
    [
      'tool calls',
      [
        piece(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        piece(0, { function: { arguments: '{"x":' } }),
        piece(1, { id: 'b', type: 'custom', custom: { name: 'g', input: '' }, extra_content: { google: 1 } }),
        piece(0, { function: { arguments: '1}' } }),
        piece(1, { custom: { input: 'hi' } }),
      ],
      {
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'custom', extra_content: { google: 1 }, custom: { name: 'g', input: 'hi' } },
        ],
      },
    ],
    [
      'a call in the old spelling',
      [chunk({ function_call: { name: 'f', arguments: '' } }), chunk({ function_call: { arguments: '{}' } })],
      { content: null, function_call: { name: 'f', arguments: '{}' } },
    ],
  ])('contain %s', (_, chunks, expected) => {
    expect(assemble(ROLE, ...chunks, chunk({}, { finish_reason: 'stop' }))).toEqual({
      ...ENVELOPE,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...expected }, logprobs: null, finish_reason: 'stop' }],
    });
  });

  test('keep the log probabilities of their tokens', () => {
    expect(assemble(chunk({ content: 'a' }, logprobsOf('a')), chunk({ content: 'b' }, logprobsOf('b')))).toMatchObject({
      choices: [{ logprobs: { content: ['a', 'b'], refusal: null }, finish_reason: null }],
    });
  });

  test('ignore chunks without choices', () => {
    expect(assemble({ ...ENVELOPE, choices: [] }, { id: 'x' }, chunk('odd'))).toMatchObject({
      id: 'chatcmpl-1',
      choices: [{ message: { content: '' } }],
    });
  });
});
