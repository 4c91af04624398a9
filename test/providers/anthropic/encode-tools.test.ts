import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { faultOf } from '../fault-of.ts';
import { bodyOf, encode, LOOP, TIME, WEATHER } from './encoding.ts';

const strict = (name: string): JsonObject => ({
  type: 'function',
  function: {
    name,
    strict: true,
    parameters: { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
  },
});

const taking = (parameters: unknown): JsonObject => ({ type: 'function', function: { name: 'a', strict: true, parameters } });

test('a grammar that is only described is reported', () => {
  const custom = { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } };
  expect(encode({ tools: [TIME, { type: 'custom', custom }] }).dropped).toEqual(['tools[1].custom.format']);
  expect(encode({ tools: [{ type: 'custom', custom: { name: 'say', format: { type: 'text' } } }] }).dropped).toBeUndefined();
});

describe('tools', () => {
  const weather = { name: 'weather', input_schema: WEATHER.function.parameters };
  const time = { name: 'time', input_schema: { type: 'object', properties: {} } };
  test.each<[string, Partial<ChatRequest>, JsonObject[], unknown]>([
    ['are offered', { tools: [WEATHER, TIME] }, [weather, time], undefined],
    [
      'are offered in the legacy format',
      { functions: [WEATHER.function], function_call: { name: 'weather' } },
      [weather],
      { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    ],
    ['may be called', { tools: [WEATHER], tool_choice: 'auto' }, [weather], undefined],
    ['must be called', { tools: [WEATHER], tool_choice: 'required' }, [weather], { type: 'any' }],
    ['must not be called', { tools: [WEATHER], tool_choice: 'none', parallel_tool_calls: false }, [weather], { type: 'none' }],
    [
      'are called by name',
      { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'weather' } } },
      [weather],
      { type: 'tool', name: 'weather' },
    ],
    [
      'are called one at a time',
      { tools: [WEATHER], parallel_tool_calls: false },
      [weather],
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      'are restricted to the allowed ones',
      {
        tools: [WEATHER, TIME],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'time' } }] },
        },
      },
      [time],
      { type: 'any' },
    ],
    ['with an unknown choice are optional', { tools: [TIME], tool_choice: 7 }, [time], undefined],
    [
      'with a broken list of allowed ones are optional',
      { tools: [TIME], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'x', tools: [{ name: 'time' }, 'time'] } } },
      [time],
      undefined,
    ],
    [
      'that only the history mentions are defined but not callable',
      { messages: LOOP },
      [{ name: 'weather', input_schema: { type: 'object', properties: {} } }],
      { type: 'none' },
    ],
    [
      'with a cache mark keep it',
      { tools: [{ ...TIME, cache_control: { type: 'ephemeral' } }] },
      [{ ...time, cache_control: { type: 'ephemeral' } }],
      undefined,
    ],
    [
      'of type custom get one text field',
      {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'patch',
              description: 'Patches.',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
            },
          },
        ],
      },
      [
        {
          name: 'patch',
          description: 'Patches.\nThe input must follow this lark grammar: start: "a"',
          input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
      ],
      undefined,
    ],
    [
      'of type custom need no grammar',
      { tools: [{ type: 'custom', custom: { name: 'say' } }], tool_choice: { type: 'custom', custom: { name: 'say' } } },
      [{ name: 'say', input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } }],
      { type: 'tool', name: 'say' },
    ],
    [
      'get the type their schema omits',
      { tools: [{ type: 'function', function: { name: 'time', description: 'Tells it.', parameters: { properties: {} } } }] },
      [{ ...time, description: 'Tells it.' }],
      undefined,
    ],
    [
      'get names that the provider accepts',
      {
        tools: [
          { type: 'function', function: { name: 'a.b' } },
          { type: 'function', function: { name: 'a_b' } },
          { type: 'function', function: { name: 'answer_in_json' } },
        ],
      },
      [
        { ...time, name: 'a_b_2e7336dc' },
        { ...time, name: 'a_b' },
        { ...time, name: 'answer_in_json_9385b479' },
      ],
      undefined,
    ],
  ])('%s', (_, chat, tools, choice) => {
    const body = bodyOf(encode(chat));
    expect(body['tools']).toEqual(tools);
    expect(body['tool_choice']).toEqual(choice);
  });

  test('with a union at the top of their schema get one object for all branches', () => {
    const city = { type: 'string' };
    const parameters = {
      description: 'A place.',
      properties: { unit: {} },
      oneOf: [{ $ref: '#/$defs/named' }, { properties: { kind: { const: 'point' }, x: {}, y: {} }, required: ['kind', 'x'] }],
      $defs: {
        named: {
          allOf: [
            { properties: { kind: { const: 'name' } }, required: ['kind'] },
            { properties: { city }, required: ['city'] },
          ],
        },
      },
    };
    const request = encode({ tools: [{ type: 'function', function: { name: 'find', parameters } }] });
    expect(bodyOf(request)['tools']).toEqual([
      {
        name: 'find',
        input_schema: {
          type: 'object',
          description: `A place. (oneOf: ${JSON.stringify(parameters.oneOf)})`,
          properties: { unit: {}, kind: { anyOf: [{ const: 'name' }, { const: 'point' }] }, city, x: {}, y: {} },
          required: ['kind'],
          $defs: parameters.$defs,
        },
      },
    ]);
    expect(request.dropped).toEqual(['tools[0].function.parameters.oneOf']);
  });

  test('whose schema refers to itself at the top are still offered', () => {
    const parameters = { anyOf: [{ $ref: '#/$defs/a' }, 7], $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/none' }] } } };
    const [tool] = bodyOf(encode({ tools: [{ type: 'function', function: { name: 'find', parameters } }] }))['tools'] as JsonObject[];
    expect(tool).toMatchObject({ input_schema: { type: 'object', properties: {} } });
  });

  test('are left to the model if it cannot be forced', () => {
    const request = encode({ tools: [WEATHER], tool_choice: 'required' }, 'claude-opus-5-5');
    expect(bodyOf(request)).not.toHaveProperty('tool_choice');
    expect(request.dropped).toEqual(['tool_choice']);
  });

  test('are strict if the model supports it, twenty at most', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', description: '(minLength: 1)' } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(bodyOf(encode({ tools: [strict('a')] }))['tools']).toEqual([{ name: 'a', input_schema: schema, strict: true }]);
    const old = encode({ tools: [strict('a')] }, 'claude-sonnet-4-20250514');
    expect(bodyOf(old)['tools']).toEqual([
      { name: 'a', input_schema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] } },
    ]);
    expect(old.dropped).toEqual(['tools[0].function.strict']);
    expect(encode({ tools: Array.from({ length: 21 }, (_, index) => strict(`t${index}`)) }).dropped).toEqual(['tools[20].function.strict']);
  });

  test('are strict as far as the response format leaves room in the grammar', () => {
    const [schema, ...inputs] = [8, 12, 5, 4].map((count) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }])),
    }));
    const tools = inputs.map((parameters, index) => ({ type: 'function', function: { name: `t${index}`, strict: true, parameters } }));
    const request = encode({ tools, response_format: { type: 'json_schema', json_schema: { name: 'it', schema } } });
    expect(bodyOf(request)).toMatchObject({
      tools: [{ name: 't0', strict: true }, { name: 't1' }, { name: 't2', strict: true }],
      output_config: { format: { type: 'json_schema' } },
    });
    expect(request.dropped).toEqual(['tools[1].function.strict']);
  });

  test('are not strict with an argument of arbitrary fields, but are strict without arguments', () => {
    const free = { type: 'object', properties: { metadata: { type: 'object' } }, required: ['metadata'] };
    const loose = encode({ tools: [taking(free)] });
    expect(bodyOf(loose)['tools']).toEqual([{ name: 'a', input_schema: free }]);
    expect(loose.dropped).toEqual(['tools[0].function.strict']);
    const none = { type: 'object', properties: {} };
    for (const parameters of [undefined, none])
      expect(bodyOf(encode({ tools: [taking(parameters)] }))['tools']).toEqual([
        { name: 'a', input_schema: { ...none, additionalProperties: false }, strict: true },
      ]);
    expect(encode({ tools: [taking({ type: 'object', patternProperties: { '^x': {} } })] }).dropped).toEqual(['tools[0].function.strict']);
  });

  test('of an unknown type are refused', () => {
    expect(faultOf(() => encode({ tools: [{ type: 'browser' }] }))).toMatchObject({ status: 400, param: 'tools[0]' });
  });

  test('for searching are offered only with a price for searches', () => {
    const location = { type: 'approximate', approximate: { country: 'CH' } };
    const chat = { web_search_options: { user_location: location } };
    expect(bodyOf(encode(chat, 'claude-opus-5', { maySearch: true }))['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', country: 'CH' } },
    ]);
    expect(bodyOf(encode({ web_search_options: {} }, 'claude-opus-5', { maySearch: true }))['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search' },
    ]);
    expect(faultOf(() => encode(chat))).toMatchObject({ status: 400, param: 'web_search_options' });
  });
});
