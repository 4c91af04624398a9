import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { bodyOf, encode, TIME } from './encoding.ts';

const format = (value: unknown): Partial<ChatRequest> => ({
  response_format: { type: 'json_schema', json_schema: { name: 'it', description: 'It.', schema: value } },
});
const answer = (value: unknown): JsonObject => ({
  name: 'answer_in_json',
  description: 'Gives the answer to the user, as it. It.',
  input_schema: value,
});

describe('response_format', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] };
  const closed = {
    type: 'object',
    properties: { a: { type: 'integer', description: '(minimum: 1)' } },
    required: ['a'],
    additionalProperties: false,
  };
  const open = { type: 'object', additionalProperties: { type: 'string' } };
  const free = { type: 'object', properties: { metadata: { type: 'object' } }, required: ['metadata'] };
  const only = { type: 'tool', name: 'answer_in_json', disable_parallel_tool_use: true };

  test.each<[string, string, Partial<ChatRequest>, JsonObject, string[]]>([
    ['as text', 'claude-opus-5', { response_format: { type: 'text' } }, {}, []],
    ['as a schema', 'claude-opus-5', format(schema), { output_config: { format: { type: 'json_schema', schema: closed } } }, []],
    [
      'as a schema with an effort',
      'claude-opus-4-8',
      { ...format(schema), reasoning_effort: 'low' },
      {
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'low', format: { type: 'json_schema', schema: closed } },
      },
      [],
    ],
    ['as a schema on an old model', 'claude-sonnet-4-20250514', format(schema), { tools: [answer(schema)], tool_choice: only }, []],
    ['as a schema that the grammar does not support', 'claude-opus-5', format(open), { tools: [answer(open)], tool_choice: only }, []],
    ['as a schema with an object of arbitrary fields', 'claude-opus-5', format(free), { tools: [answer(free)], tool_choice: only }, []],
    [
      'as a schema together with tools',
      'claude-opus-5',
      { ...format(open), tools: [TIME], parallel_tool_calls: false },
      {
        tools: [{ name: 'time', input_schema: { type: 'object', properties: {} } }, answer(open)],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
      [],
    ],
    [
      'as a schema together with a required tool',
      'claude-opus-5',
      { ...format(open), tools: [TIME], tool_choice: 'required' },
      { tools: [{ name: 'time', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'any' } },
      [],
    ],
    [
      'as a schema that cannot be enforced',
      'claude-opus-5-5',
      format(open),
      {
        system: `Answer with one JSON object and nothing else: no introduction, no code fence. It must be valid against this JSON schema: ${JSON.stringify(open)}`,
      },
      ['response_format'],
    ],
    [
      'as a JSON object of any shape',
      'claude-opus-5',
      { response_format: { type: 'json_object' } },
      { system: 'Answer with one JSON object and nothing else: no introduction, no code fence.' },
      [],
    ],
    [
      'as a missing schema',
      'claude-opus-5',
      format(undefined),
      { system: 'Answer with one JSON object and nothing else: no introduction, no code fence.' },
      [],
    ],
  ])('%s', (_, model, chat, ...[fields, dropped]) => {
    const request = encode(chat, model);
    const { model: _model, max_tokens: _limit, messages: _messages, ...rest } = bodyOf(request);
    expect(rest).toEqual(fields);
    expect(request.dropped ?? []).toEqual(dropped);
  });

  test('without a description still describes the tool', () => {
    const chat = { response_format: { type: 'json_schema', json_schema: { name: 'it', schema: open } } };
    expect(bodyOf(encode(chat))['tools']).toEqual([{ ...answer(open), description: 'Gives the answer to the user, as it.' }]);
  });
});
