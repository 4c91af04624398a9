import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { ProviderFault } from '../../../src/providers/dialect.ts';
import { complainAbout } from '../../simulator/gemini-validation.ts';
import { encode } from './given.ts';

const MODELS = ['gemma-3-27b-it', 'gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-3-flash-preview', 'gemini-4-argon'];

const text = fc.oneof(fc.constant(''), fc.string(), fc.string({ unit: 'grapheme' }));
const said = fc.record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content: text });
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } };
const shown = fc.record({ role: fc.constant('user'), content: text.map((words) => [image, { type: 'text', text: words }]) });

/** An assistant message with tool calls, and their results in either order. */
const exchange = fc
  .record({
    content: fc.option(text),
    names: fc.array(fc.constantFrom('weather', 'time', '2d', 'made up'), { minLength: 1, maxLength: 4 }),
    args: fc.oneof(fc.constant(''), fc.constant('{"a":1}'), fc.constant('broken {'), fc.constant('[1]')),
    result: text,
    isReversed: fc.boolean(),
  })
  .map(({ content, names, args, result, isReversed }): JsonObject[] => {
    const calls = names.map((name, index) => ({ id: `c${index}`, type: 'function', function: { name, arguments: args } }));
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }));
    return [{ role: 'assistant', content, tool_calls: calls }, ...(isReversed ? results.toReversed() : results)];
  });

const messages = fc.array(
  fc.oneof(
    said.map((message): JsonObject[] => [message]),
    shown.map((message): JsonObject[] => [message]),
    exchange,
  ),
  {
    minLength: 1,
    maxLength: 6,
  },
);

const options = fc.record(
  {
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'high', 'max'),
    presence_penalty: fc.constantFrom(-2, 0, 1),
    seed: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
    stop: fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 4 })),
    tools: fc.uniqueArray(fc.constantFrom('weather', 'time', '2d'), { minLength: 1 }).map((names) =>
      names.map((name) => ({
        type: 'function',
        function: { name, strict: name === 'time', parameters: { type: 'object', $schema: 's' } },
      })),
    ),
    tool_choice: fc.constantFrom('none', 'auto', 'required'),
    response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
    service_tier: fc.constantFrom('auto', 'default', 'flex', 'scale'),
  },
  { requiredKeys: [] },
);

test('no conversation becomes a request that Google refuses', () => {
  const signatures = new Set<string>();
  const continuationTokens = new Set<string>();
  fc.assert(
    fc.property(messages, options, fc.constantFrom(...MODELS), fc.boolean(), (...[turns, extra, model, isVertex]) => {
      const chat: Partial<ChatRequest> = { ...extra, messages: turns.flat() };
      let body: JsonObject;
      try {
        ({ body } = encode(chat, { model, isVertex }));
      } catch (error) {
        // Only a conversation without any content cannot be encoded.
        expect(error).toBeInstanceOf(ProviderFault);
        expect(turns.flat().every(({ content }) => content === '')).toBe(true);
        return;
      }
      expect(complainAbout(body, { model, isVertex, signatures, continuationTokens })).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
