import fc from 'fast-check';
import type { JsonObject } from '../../src/openai/types.ts';

const WEATHER = {
  type: 'function',
  function: {
    name: 'the.weather',
    parameters: { type: 'object', properties: { city: { type: 'string' }, 'the $unit': { properties: { '@id': {} } } } },
  },
};
const NOTHING = { type: 'function', function: { name: 'nothing' } };
const EITHER = {
  type: 'function',
  function: { name: 'either', parameters: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] } },
};
const json = (schema: JsonObject): JsonObject => ({ type: 'json_schema', json_schema: { name: 'it', schema } });
const CLOSED = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const OPEN = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: { type: 'string' } };

/** Returns request bodies the gateway accepts, with everything a dialect must translate. */
export function arbitraryChat(): fc.Arbitrary<JsonObject> {
  const words = fc.constantFrom('Hi', ' ', '', 'So.\n', 'Zürich ☂');
  const mark = fc.constantFrom({}, { cache_control: { type: 'ephemeral' } });
  const part = fc.tuple(words, mark).map(([text, more]) => ({ type: 'text', text, ...more }));
  const image = fc
    .constantFrom('data:image/png;base64,iVBORw0KGgo=', 'data:image/jpeg;base64,iVBORw0KGgo=')
    .map((url) => ({ type: 'image_url', image_url: { url } }));
  const content = fc.oneof(words, fc.array(fc.oneof(part, image), { minLength: 1, maxLength: 3 }));
  const textOnly = fc.oneof(words, fc.array(part, { minLength: 1, maxLength: 2 }));
  const round = fc
    .array(fc.tuple(fc.constantFrom('the.weather', 'nothing', 'other'), fc.constantFrom('', '{}', '{"a":1}', '{"a')), {
      minLength: 1,
      maxLength: 3,
    })
    .chain((used) =>
      fc.tuple(fc.oneof(fc.uuid(), fc.constant('0')), fc.oneof(words, fc.constant(null)), textOnly).map(([id, said, answer]) => [
        {
          role: 'assistant',
          content: said,
          tool_calls: used.map(([name, args], index) => ({
            id: `call:${id}.${index}`,
            type: 'function',
            function: { name, arguments: args },
          })),
        },
        ...used.map((_, index) => ({ role: 'tool', tool_call_id: `call:${id}.${index}`, content: answer })),
      ]),
    );
  const single = fc.oneof(
    content.map((value) => ({ role: 'user', content: value })),
    textOnly.map((value) => ({ role: 'assistant', content: value })),
    textOnly.map((value) => ({ role: 'system', content: value })),
    words.map((value) => ({ role: 'function', name: 'nothing', content: value })),
    words.map((value) => ({ role: 'assistant', content: value, function_call: { name: 'nothing', arguments: '{}' } })),
  );
  const messages = fc
    .array(
      fc.oneof(
        round,
        single.map((message) => [message]),
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map((rounds) => rounds.flat());
  const strict = {
    type: 'function',
    function: {
      name: 'strict',
      strict: true,
      parameters: { type: 'object', properties: { a: { type: 'string', pattern: 'x' } }, required: ['a'], additionalProperties: false },
    },
  };
  const tools = fc.oneof(
    fc.constant({}),
    fc.record(
      {
        tools: fc.subarray([WEATHER, NOTHING, EITHER, strict], { minLength: 1 }),
        tool_choice: fc.constantFrom('auto', 'none', 'required'),
        parallel_tool_calls: fc.boolean(),
      },
      { requiredKeys: ['tools'] },
    ),
  );
  const options = fc.record(
    {
      max_tokens: fc.constantFrom(1, 1024, 1025, 5000, 1_000_000),
      temperature: fc.constantFrom(0, 0.5, 1, 2),
      top_p: fc.constantFrom(0, 0.5, 1),
      top_k: fc.constantFrom(0, 40),
      stop: fc.constantFrom('END', ['\n', 'END'], ' '),
      user: fc.constantFrom('u', '', 'u'.repeat(300), 'u@example.com'),
      service_tier: fc.constantFrom('auto', 'default', 'flex', 'fast'),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'),
      response_format: fc.constantFrom<JsonObject>({ type: 'text' }, { type: 'json_object' }, json(CLOSED), json(OPEN)),
      stream: fc.boolean(),
      seed: fc.integer(),
      n: fc.constant(1),
    },
    { requiredKeys: [] },
  );
  return fc.tuple(messages, tools, options).map(([list, offered, more]) => ({ model: 'm', messages: list, ...offered, ...more }));
}
