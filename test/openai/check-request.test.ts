import { describe, expect, test } from 'bun:test';
import { JsonLayout } from '../../src/http/json-layout.ts';
import { checkChatRequest } from '../../src/openai/check-request.ts';
import { RequestText } from '../../src/openai/request-text.ts';
import type { JsonObject } from '../../src/openai/types.ts';
import { refusalOf } from './refusal-of.ts';

const user = { role: 'user', content: 'Hello' };
const valid = { model: 'mock/gpt', messages: [user] };
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
};
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };

test.each([
  [[], 'an array'],
  ['{}', 'a string'],
  [null, 'null'],
  [7, 'an integer'],
  [true, 'a boolean'],
])('a body that is %j is no object, and no field is to blame', (body, type) => {
  const { errorName, message, details } = refusalOf(body);
  expect([errorName, message, details.param]).toEqual(['invalid_type', `The body must be a JSON object, not ${type}.`, undefined]);
});

/** Left: what is wrong with the body. Right: the code and field that the client sees. */
const REFUSED: readonly (readonly [what: string, body: unknown, code: string, param: string])[] = [
  ['no model', { messages: [user] }, 'missing_required_parameter', 'model'],
  ['an empty model', { ...valid, model: '' }, 'invalid_value', 'model'],
  ['a number for a model', { ...valid, model: 7 }, 'invalid_type', 'model'],
  ['no messages', { model: 'm' }, 'missing_required_parameter', 'messages'],
  ['null messages', { model: 'm', messages: null }, 'missing_required_parameter', 'messages'],
  ['empty messages', { model: 'm', messages: [] }, 'empty_array', 'messages'],
  ['messages that are a text', { model: 'm', messages: 'Hello' }, 'invalid_type', 'messages'],
  ['too many messages', { model: 'm', messages: Array.from({ length: 2049 }, () => user) }, 'array_above_max_length', 'messages'],
  ['a temperature above its range', { ...valid, temperature: 2.1 }, 'decimal_above_max_value', 'temperature'],
  ['a temperature below its range', { ...valid, temperature: -0.1 }, 'decimal_below_min_value', 'temperature'],
  ['a temperature that is a text', { ...valid, temperature: '1' }, 'invalid_type', 'temperature'],
  ['a temperature beyond all numbers', { ...valid, temperature: Number.POSITIVE_INFINITY }, 'decimal_above_max_value', 'temperature'],
  ['top_p above one', { ...valid, top_p: 1.01 }, 'decimal_above_max_value', 'top_p'],
  ['n of zero', { ...valid, n: 0 }, 'integer_below_min_value', 'n'],
  ['n above its range', { ...valid, n: 129 }, 'integer_above_max_value', 'n'],
  ['a fractional n', { ...valid, n: 1.5 }, 'invalid_type', 'n'],
  ['max_tokens of zero', { ...valid, max_tokens: 0 }, 'integer_below_min_value', 'max_tokens'],
  ['two limits that differ', { ...valid, max_tokens: 5, max_completion_tokens: 6 }, 'invalid_value', 'max_tokens'],
  ['stream that is a text', { ...valid, stream: 'yes' }, 'invalid_type', 'stream'],
  ['stream_options without stream', { ...valid, stream_options: { include_usage: true } }, 'invalid_value', 'stream_options'],
  ['stream_options with stream false', { ...valid, stream: false, stream_options: {} }, 'invalid_value', 'stream_options'],
  [
    'include_usage that is a number',
    { ...valid, stream: true, stream_options: { include_usage: 1 } },
    'invalid_type',
    'stream_options.include_usage',
  ],
  ['five stops', { ...valid, stop: ['1', '2', '3', '4', '5'] }, 'array_above_max_length', 'stop'],
  ['a penalty out of range', { ...valid, presence_penalty: 3 }, 'decimal_above_max_value', 'presence_penalty'],
  ['a bias out of range', { ...valid, logit_bias: { 50256: -101 } }, 'decimal_below_min_value', 'logit_bias.50256'],
  ['top_logprobs without logprobs', { ...valid, top_logprobs: 2 }, 'invalid_value', 'top_logprobs'],
  ['an unknown effort', { ...valid, reasoning_effort: 'extreme' }, 'invalid_value', 'reasoning_effort'],
  ['an unknown tier', { ...valid, service_tier: 'gold' }, 'invalid_value', 'service_tier'],
  ['too many tools', { ...valid, tools: Array.from({ length: 129 }, () => tool) }, 'array_above_max_length', 'tools'],
  ['a tool without a type', { ...valid, tools: [{ function: { name: 'f' } }] }, 'missing_required_parameter', 'tools[0].type'],
  ['a function tool without its function', { ...valid, tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].function'],
  [
    'a function tool with null for its function',
    { ...valid, tools: [{ type: 'function', function: null }] },
    'missing_required_parameter',
    'tools[0].function',
  ],
  [
    'a choice of a function without its name',
    { ...valid, tools: [tool], tool_choice: { type: 'function' } },
    'missing_required_parameter',
    'tool_choice.function',
  ],
  [
    'a choice of allowed tools without any',
    { ...valid, tools: [tool], tool_choice: { type: 'allowed_tools' } },
    'missing_required_parameter',
    'tool_choice.allowed_tools',
  ],
  [
    'a function with a space in its name',
    { ...valid, tools: [{ type: 'function', function: { name: 'a b' } }] },
    'invalid_value',
    'tools[0].function.name',
  ],
  [
    'a grammar that is no text',
    { ...valid, tools: [{ type: 'custom', custom: { name: 'g', format: { type: 'grammar', grammar: { definition: 9 } } } }] },
    'invalid_type',
    'tools[0].custom.format.grammar.definition',
  ],
  ['a flat tool without a name', { ...valid, tools: [{ type: 'custom', format: {} }] }, 'missing_required_parameter', 'tools[0].custom'],
  ['a flat tool with a bad name', { ...valid, tools: [{ type: 'function', name: '' }] }, 'invalid_value', 'tools[0].function.name'],
  ['tool_choice without tools', { ...valid, tool_choice: 'auto' }, 'invalid_value', 'tool_choice'],
  ['a required choice of no tools', { ...valid, tools: [], tool_choice: 'required' }, 'empty_array', 'tools'],
  ['an unknown response format', { ...valid, response_format: { type: 'xml' } }, 'invalid_value', 'response_format.type'],
  [
    'a schema format without a schema',
    { ...valid, response_format: { type: 'json_schema' } },
    'missing_required_parameter',
    'response_format.json_schema',
  ],
  ['metadata with a number', { ...valid, metadata: { a: 1 } }, 'invalid_type', 'metadata'],
  ['metadata with a long name', { ...valid, metadata: { ['x'.repeat(65)]: 'a' } }, 'string_above_max_length', 'metadata'],
  ['metadata with a long value', { ...valid, metadata: { a: 'x'.repeat(513) } }, 'string_above_max_length', 'metadata'],
  ['a long text of emoji', { ...valid, safety_identifier: '🌉'.repeat(129) }, 'string_above_max_length', 'safety_identifier'],
  ['a long safety identifier', { ...valid, safety_identifier: 'x'.repeat(129) }, 'string_above_max_length', 'safety_identifier'],
];

const ACCEPTED: readonly (readonly [what: string, body: Record<string, unknown>])[] = [
  ['the smallest request', valid],
  ['every optional field as null', { ...valid, temperature: null, n: null, stop: null, tools: null, stream_options: null, seed: null }],
  [
    'text and an image',
    {
      ...valid,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'original' } },
          ],
        },
      ],
    },
  ],
  [
    'audio and a file',
    {
      ...valid,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
            { type: 'file', file: { file_id: 'f' } },
          ],
        },
      ],
    },
  ],
  ['as many emoji as other characters', { ...valid, safety_identifier: '🌉'.repeat(128), metadata: { a: '🌉'.repeat(512) } }],
  [
    'empty lists for no text and no calls',
    {
      ...valid,
      messages: [
        user,
        { role: 'assistant', content: [], tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' } }] },
        { role: 'tool', tool_call_id: 'a', content: [] },
        { role: 'assistant', content: 'x', tool_calls: [] },
      ],
    },
  ],
  [
    'an empty answer as the official client keeps it',
    { ...valid, messages: [user, { role: 'assistant', content: null, refusal: null, parsed: null }, user] },
  ],
  ['tool calls of a user, which mean nothing', { ...valid, messages: [{ ...user, tool_calls: [null, { id: 'call_1' }] }] }],
  [
    'a bare string for an image',
    { ...valid, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'data:image/png;base64,AA' }] }] },
  ],
  ['a tool loop', { ...valid, tools: [tool], messages: [user, calling, { role: 'tool', content: '42', tool_call_id: 'call_1' }] }],
  ['an earlier refusal', { ...valid, messages: [user, { role: 'assistant', content: null, refusal: 'no' }, user] }],
  [
    'the deprecated functions',
    {
      ...valid,
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [user, { role: 'function', name: 'f', content: null }],
    },
  ],
  ['allowed tools', { ...valid, tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool] } } }],
  [
    'a grammar tool',
    {
      ...valid,
      tools: [{ type: 'custom', custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } } }],
    },
  ],
  [
    'recent fields',
    {
      ...valid,
      verbosity: 'low',
      reasoning_effort: 'xhigh',
      prompt_cache_options: { mode: 'explicit' },
      moderation: {},
      service_tier: 'fast',
      safety_identifier: 'u',
    },
  ],
  [
    'a structured format',
    { ...valid, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } } },
  ],
  ['audio output', { ...valid, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } }],
  ['fields of other hosts', { ...valid, top_k: 5, repetition_penalty: 1.1, provider: { order: ['a'] }, reasoning: { effort: 'low' } }],
];

describe('a request', () => {
  test.each(REFUSED.map(([what, body, code, param]) => ({ what, body, code, param })))('with $what is refused', ({ body, code, param }) => {
    const error = refusalOf(body);
    expect(error.errorName as string).toBe(code);
    expect(error.details.param).toBe(param);
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^\S.{10,}[.]$/s);
  });

  test.each(ACCEPTED.map(([what, body]) => ({ what, body })))('with $what is accepted', ({ body }) => {
    expect(() => checkChatRequest(structuredClone(body))).not.toThrow();
  });

  test('keeps unknown fields, and drops known nulls and empty tools', () => {
    const body = { ...valid, future_field: { deep: [1] }, other: null, temperature: null, tools: [], tool_choice: 'auto' };
    expect(checkChatRequest(body) as unknown).toEqual({ ...valid, future_field: { deep: [1] }, other: null });
  });

  test.each([
    ['none', null],
    ['none', undefined],
    [null, undefined],
  ])('says nothing about tools that it has none of: %p, %p', (tool_choice, tools) => {
    expect(checkChatRequest({ ...valid, tool_choice, tools, parallel_tool_calls: false }) as unknown).toEqual(valid);
  });

  test('with Mistral’s word for a required tool is sent with OpenAI’s, also if it is long enough to be sent as written', () => {
    const text = JSON.stringify({ ...valid, tools: [tool], tool_choice: 'any', user: 'u'.repeat(5000) });
    const value = JSON.parse(text) as JsonObject;
    const source = RequestText.of(text, new JsonLayout(text), value);
    const checked = checkChatRequest(value);
    expect(checked['tool_choice']).toBe('required');
    expect(source?.write(checked)).toContain('"tool_choice":"required"');
  });

  test('is told of every character that a tool’s name may have', () => {
    const [well, badly] = ['a.B:1_-', 'a b'].map((name) => ({ ...valid, tools: [{ type: 'function', function: { name } }] }));
    expect(() => checkChatRequest(well)).not.toThrow();
    expect(refusalOf(badly).message).toEndWith('must be 1 to 128 letters, digits, underscores, hyphens, dots and colons.');
  });

  test('keeps one output limit when both names give the same', () => {
    expect(checkChatRequest({ ...valid, max_tokens: 9, max_completion_tokens: 9 }) as unknown).toEqual({
      ...valid,
      max_completion_tokens: 9,
    });
  });

  test.each([
    ['messages[0].content', { ...valid, messages: [{ role: 'user', content: 5 }] }, 'a string or an array'],
    ['stop', { ...valid, stop: {} }, 'a string or an array'],
    ['tool_choice', { ...valid, tools: [tool], tool_choice: [] }, 'a string or an object'],
    ['function_call', { ...valid, function_call: true }, 'a string or an object'],
  ])('with a wrong type for %s is told both forms that are allowed', (param, body, forms) => {
    expect(refusalOf(body).message).toStartWith(`Invalid type for '${param}': expected ${forms}, got `);
  });

  test.each([
    [{ a: 1 }, "Invalid type for a value of 'metadata': expected a string, got an integer."],
    [{ ['x'.repeat(65)]: 'a' }, "A name in 'metadata' is too long; at most 64 characters are allowed."],
    [{ a: 'x'.repeat(513) }, "A value of 'metadata' is too long; at most 512 characters are allowed."],
  ])('with wrong metadata is told whether a name or a value is wrong', (metadata, message) => {
    expect(refusalOf({ ...valid, metadata }).message).toBe(message);
  });

  test('in the format of the Responses API gets a hint', () => {
    expect(refusalOf({ model: 'm', input: 'Hello' }).message).toContain("'messages'");
  });

  test('is never quoted in an error, except for the allowed values of a list', () => {
    const canary = 'canary-secret-value-1234567890';
    for (const name of [
      'model',
      'messages',
      'temperature',
      'stream',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'service_tier',
      'metadata',
    ]) {
      const body = { ...valid, [name]: name === 'model' ? { canary } : canary };
      try {
        checkChatRequest(body);
      } catch (error) {
        expect((error as Error).message).not.toContain(canary);
      }
    }
  });
});
