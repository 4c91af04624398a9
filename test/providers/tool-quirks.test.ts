import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { CHAT, encode } from './relayed.ts';

describe('a request with tools', () => {
  const PARAMETERS = { type: 'object', properties: { a: { type: 'string', default: null, enum: ['b', null] } } };
  const [look, ask] = ['look', 'ask'].map((name) => ({ type: 'function', function: { name, parameters: PARAMETERS } }));
  const NULLED = { type: 'function', function: { name: 'ask', description: null, parameters: null, strict: null } };

  test.each(['mistral', 'groq', 'lmstudio', 'deepseek'])('to %s has no nulls in them, and parameters for each', (id) => {
    const bare = { type: 'function', function: { name: 'bare' }, custom: null };
    const empty = { type: 'object', properties: {} };
    expect(encode(id, { tools: [look, NULLED, bare] }).body['tools']).toEqual([
      look,
      { type: 'function', function: { name: 'ask', parameters: empty } },
      { type: 'function', function: { name: 'bare', parameters: empty } },
    ]);
    expect(encode('openai', { tools: [NULLED, bare] }).body['tools']).toEqual([NULLED, bare]);
  });

  test.each<[string, string, string, string]>([
    ['vllm', 'auto', 'auto', 'openai'],
    ['vllm', 'required', 'required', 'azure'],
    ['mistral', 'required', 'any', 'github'],
  ])('to %s offers only those allowed, in mode %s', (id, mode, sent, other) => {
    const allowed = { mode, tools: [{ type: 'function', function: { name: 'ask' } }] };
    const asked = { tools: [look, ask], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } };
    expect(encode(id, asked)).toMatchObject({ body: { tools: [ask], tool_choice: sent }, dropped: undefined });
    expect(encode(other, asked).body).toMatchObject(asked);
  });

  test('of which none is allowed, has none at vLLM', () => {
    const allowed = { mode: 'auto', tools: [{ type: 'function', function: { name: 'other' } }] };
    const asked = { tools: [look], tool_choice: { type: 'allowed_tools', allowed_tools: allowed }, parallel_tool_calls: false };
    expect(encode('vllm', asked).body).toEqual({ ...CHAT, model: 'theirs' });
  });

  const NAMED = { type: 'function', function: { name: 'ask' } };
  const OFF = { thinking: { type: 'disabled' } };

  test.each<[string, string, JsonObject, JsonObject, (readonly string[])?]>([
    ['deepseek', 'deepseek-v4-pro', { tool_choice: 'required' }, { tool_choice: 'required', ...OFF }],
    ['deepseek', 'deepseek-v4-pro', { tool_choice: NAMED, reasoning_effort: 'high' }, { tool_choice: NAMED, ...OFF }, ['reasoning_effort']],
    ['deepseek', 'deepseek-v4-pro', { tool_choice: 'required', reasoning_effort: 'none' }, { tool_choice: 'required', ...OFF }],
    ['deepseek', 'deepseek-v4-pro', { tool_choice: 'required', ...OFF }, { tool_choice: 'required', ...OFF }],
    ['deepseek', 'deepseek-v4-pro', { tool_choice: 'auto', reasoning_effort: 'high' }, { tool_choice: 'auto', reasoning_effort: 'high' }],
    ['deepseek', 'deepseek-v4-pro', { tool_choice: 'none' }, { tool_choice: 'none' }],
    ['moonshot', 'kimi-k2.6', { tool_choice: NAMED }, { tool_choice: NAMED, ...OFF }],
    ['moonshot', 'kimi-k2.7-code', { tool_choice: 'required' }, {}, ['tool_choice']],
    ['moonshot', 'kimi-k3', { tool_choice: 'required' }, { tool_choice: 'required' }],
    ['moonshot', 'kimi-k3', { tool_choice: NAMED }, { tools: [ask], tool_choice: 'required' }],
    ['dashscope', 'qwen3.8-max', { tool_choice: 'required' }, { tool_choice: 'required', enable_thinking: false }],
    ['dashscope', 'qwen3-235b-a22b-thinking-2507', { tool_choice: NAMED }, {}, ['tool_choice']],
    ['lmstudio', 'gemma-4-12b', { tool_choice: NAMED }, { tools: [ask], tool_choice: 'required' }],
    ['zai', 'glm-5.3', { tool_choice: NAMED }, {}, ['tool_choice']],
    ['zai', 'glm-5.3', { tool_choice: 'auto' }, { tool_choice: 'auto' }],
    ['zai', 'glm-5.3', { tool_choice: 'none', parallel_tool_calls: true }, { tools: undefined }, ['parallel_tool_calls']],
  ])('to %s, for %s with %j, forces one as far as that model allows', (...[id, model, asked, sent, dropped]) => {
    const { body, dropped: lost } = encode(id, { tools: [look, ask], ...asked }, model);
    expect({ body, lost }).toEqual({ body: { ...CHAT, model, tools: [look, ask], ...sent }, lost: dropped });
  });
});

const OBJECT = { type: 'object', properties: { a: { type: 'string', description: 'b' } }, required: ['a'], additionalProperties: false };

/** Returns the parameters of a function as they are sent. */
function parametersFor(id: string, parameters: JsonObject): unknown {
  const { body, dropped } = encode(id, { tools: [{ type: 'function', function: { name: 'f', parameters } }] }, 'kimi-k2.6');
  expect(dropped).toBeUndefined();
  return (body['tools'] as { function: JsonObject }[])[0]?.function['parameters'];
}

/** Returns the schema of an object with these fields, unless they are one. */
function wrap(fields: JsonObject): JsonObject {
  return fields === OBJECT ? OBJECT : { type: 'object', properties: fields };
}

describe('the parameters of a function, for Moonshot', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['in the form it demands', OBJECT, OBJECT],
    ['a reference with a description', { a: { $ref: '#/$defs/A', description: 'b' } }, { a: { $ref: '#/$defs/A' } }],
    [
      'a type beside alternatives',
      { a: { type: 'string', anyOf: [{ enum: ['b'] }, { type: 'null' }], description: 'c' } },
      { a: { anyOf: [{ enum: ['b'], type: 'string' }, { type: 'null' }], description: 'c' } },
    ],
    [
      'no types',
      { a: { enum: [1, 2] }, b: { items: {} }, c: { properties: { d: true } }, e: { description: 'f' }, g: { const: true } },
      {
        a: { enum: [1, 2], type: 'number' },
        b: { items: { type: 'string' }, type: 'array' },
        c: { properties: { d: { type: 'string' } }, type: 'object' },
        e: { description: 'f', type: 'string' },
        g: { const: true, type: 'boolean' },
      },
    ],
    [
      'a tuple',
      { a: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
      { a: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
    ],
    [
      'a field with the name of a keyword',
      { type: { type: 'string' }, items: { type: 'number' } },
      { type: { type: 'string' }, items: { type: 'number' } },
    ],
  ])('with %s', (_, given, expected) => {
    expect(parametersFor('moonshot', wrap(given))).toEqual(wrap(expected));
    expect(parametersFor('vllm', wrap(given))).toEqual(wrap(given));
  });

  test.each<[string, JsonObject]>([
    [
      'that are one of several objects',
      { anyOf: [{ properties: { a: { type: 'string' } } }, { type: 'object', properties: { b: true } }] },
    ],
    [
      'with alternatives beside their fields',
      { type: 'object', properties: { a: { type: 'string' }, b: {} }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    ],
    ['in parts', { type: 'object', allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} } }] }],
  ])('%s, are one object that describes them', (_, given) => {
    const description = expect.stringMatching(/^\((?:anyOf|oneOf|allOf): \[/u);
    const properties = { a: { type: 'string' }, b: { type: 'string' } };
    expect(parametersFor('moonshot', given)).toEqual({ type: 'object', description, properties });
  });

  test('that are defined elsewhere, are defined there', () => {
    const given = {
      $ref: '#/definitions/A',
      definitions: { A: { type: 'object', properties: { a: { $ref: '#/definitions/A', title: 'b' } }, required: ['a'] } },
    };
    const properties = { a: { $ref: '#/$defs/A' } };
    expect(parametersFor('moonshot', given)).toEqual({
      type: 'object',
      properties,
      required: ['a'],
      $defs: { A: { type: 'object', properties, required: ['a'] } },
    });
  });
});

test('a request with a schema has no nulls beside it at hosts that refuse them', () => {
  const schema = { type: 'object', properties: { a: { type: ['string', 'null'], default: null } } };
  const format = { type: 'json_schema', json_schema: { name: 'n', description: null, schema, strict: null } };
  expect(encode('mistral', { response_format: format }).body['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'n', schema },
  });
  expect(encode('openai', { response_format: format }).body['response_format']).toEqual(format);
});
