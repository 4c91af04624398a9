import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/compatible.ts';
import { openai } from '../../src/providers/openai.ts';

/** The messages as they are sent to a model of a host, and what the caller is told to be lost. */
function encode(id: string, model: string, ...messages: readonly JsonObject[]): { messages: unknown; dropped: unknown } {
  const target = { baseUrl: 'http://a', apiKey: undefined, model, outputTokensMax: undefined, host: HOSTS[id] };
  const { body, dropped } = openai.encodeRequest({ model: 'm', messages }, target);
  return { messages: (JSON.parse(body) as JsonObject)['messages'], dropped };
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'ok' };

describe('an earlier tool call', () => {
  test.each<[string, JsonObject, string]>([
    ['without reasoning', {}, ' '],
    ['with empty reasoning', { reasoning_content: '' }, ' '],
    ['with its reasoning', { reasoning_content: 'Hm.' }, 'Hm.'],
    ['with its reasoning by another name', { reasoning: 'Hm.' }, 'Hm.'],
  ])('%s, to models of Moonshot that think, says its reasoning', (_, reasoning, said) => {
    for (const model of ['kimi-k3', 'kimi-k2.6', 'kimi-k2-thinking'])
      expect(encode('moonshot', model, { ...CALLING, ...reasoning }, RESULT)).toEqual({
        messages: [{ ...CALLING, ...reasoning, reasoning_content: said }, RESULT],
        dropped: undefined,
      });
  });

  test('to a model of Moonshot that does not think stays as it is, and so does what calls no tool', () => {
    expect(encode('moonshot', 'moonshot-v1-8k', CALLING, RESULT).messages).toEqual([CALLING, RESULT]);
    const answer = { role: 'assistant', content: 'Hi' };
    expect(encode('moonshot', 'kimi-k2.6', answer, RESULT).messages).toEqual([answer, RESULT]);
  });
});
