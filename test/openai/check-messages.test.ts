import { expect, test } from 'bun:test';
import { checkMessages } from '../../src/openai/check-messages.ts';
import { refusalOf } from './refusal-of.ts';

const user = { role: 'user', content: 'Hello' };
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
};

/** Left: what is wrong with the messages. Right: the code and field that the client sees. */
const REFUSED: readonly (readonly [what: string, body: unknown, code: string, param: string])[] = [
  ['a message that is a text', { model: 'm', messages: ['Hello'] }, 'invalid_type', 'messages[0]'],
  ['a message without a role', { model: 'm', messages: [{ content: 'x' }] }, 'missing_required_parameter', 'messages[0].role'],
  ['an unknown role', { model: 'm', messages: [user, { role: 'wizard', content: 'x' }] }, 'invalid_value', 'messages[1].role'],
  [
    'a role named like a property of every object',
    { model: 'm', messages: [{ role: 'constructor', content: 'x' }] },
    'invalid_value',
    'messages[0].role',
  ],
  ['a user message without content', { model: 'm', messages: [{ role: 'user' }] }, 'missing_required_parameter', 'messages[0].content'],
  ['a user message with null', { model: 'm', messages: [{ role: 'user', content: null }] }, 'invalid_type', 'messages[0].content'],
  ['content that is a number', { model: 'm', messages: [{ role: 'user', content: 5 }] }, 'invalid_type', 'messages[0].content'],
  ['empty parts', { model: 'm', messages: [{ role: 'user', content: [] }] }, 'empty_array', 'messages[0].content'],
  [
    'a part without a type',
    { model: 'm', messages: [{ role: 'user', content: [{ text: 'x' }] }] },
    'missing_required_parameter',
    'messages[0].content[0].type',
  ],
  [
    'a part of an unknown type',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
    'invalid_value',
    'messages[0].content[0].type',
  ],
  [
    'a text part without its text',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: null }] }] },
    'missing_required_parameter',
    'messages[0].content[0].text',
  ],
  [
    'an image part without an image',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', url: 'https://example.com/a.png' }] }] },
    'missing_required_parameter',
    'messages[0].content[0].image_url',
  ],
  [
    'an image that is a number',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 5 }] }] },
    'invalid_type',
    'messages[0].content[0].image_url',
  ],
  [
    'an image whose URL is an object',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: { toString: 1 } } }] }] },
    'invalid_type',
    'messages[0].content[0].image_url.url',
  ],
  [
    'a file that is a list',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: ['data:,'] }] }] },
    'invalid_type',
    'messages[0].content[0].file',
  ],
  [
    'an image in a system message',
    { model: 'm', messages: [{ role: 'system', content: [{ type: 'image_url' }] }] },
    'invalid_value',
    'messages[0].content[0].type',
  ],
  [
    'an assistant message with nothing',
    { model: 'm', messages: [{ role: 'assistant', content: null }] },
    'invalid_type',
    'messages[0].content',
  ],
  [
    'an assistant message with an empty list of tool calls and nothing else',
    { model: 'm', messages: [{ role: 'assistant', content: null, tool_calls: [] }] },
    'invalid_type',
    'messages[0].content',
  ],
  [
    'a tool call that calls nothing',
    {
      model: 'm',
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
        { role: 'tool', content: 'x', tool_call_id: 'call_1' },
      ],
    },
    'missing_required_parameter',
    'messages[0].tool_calls[0].function',
  ],
  [
    'a custom call without its tool',
    { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'call_1', type: 'custom', custom: null }] }] },
    'missing_required_parameter',
    'messages[0].tool_calls[0].custom',
  ],
  [
    'a tool result whose id is a number',
    { model: 'm', messages: [calling, { role: 'tool', content: 'x', tool_call_id: 1 }] },
    'invalid_type',
    'messages[1].tool_call_id',
  ],
  [
    'a tool result without its id',
    { model: 'm', messages: [{ role: 'tool', content: 'x' }] },
    'missing_required_parameter',
    'messages[0].tool_call_id',
  ],
  [
    'a tool result without a call',
    { model: 'm', messages: [user, { role: 'tool', content: 'x', tool_call_id: 'call_1' }] },
    'invalid_value',
    'messages[1].tool_call_id',
  ],
  [
    'a tool result for another call',
    { model: 'm', messages: [user, calling, { role: 'tool', content: 'x', tool_call_id: 'call_2' }] },
    'invalid_value',
    'messages[2].tool_call_id',
  ],
  [
    'a second result for one call',
    {
      model: 'm',
      messages: [calling, { role: 'tool', content: 'x', tool_call_id: 'call_1' }, { role: 'tool', content: 'x', tool_call_id: 'call_1' }],
    },
    'invalid_value',
    'messages[2].tool_call_id',
  ],
  [
    'one result for two calls with the same id',
    {
      model: 'm',
      messages: [
        { role: 'assistant', tool_calls: [...calling.tool_calls, ...calling.tool_calls] },
        { role: 'tool', content: 'x', tool_call_id: 'call_1' },
      ],
    },
    'invalid_value',
    'messages',
  ],
  ['a tool call without a result', { model: 'm', messages: [user, calling, user] }, 'invalid_value', 'messages'],
];

test.each(REFUSED)('a conversation with %s is refused', (_, body, code, param) => {
  const error = refusalOf(body);
  expect(error.errorName as string).toBe(code);
  expect(error.details.param).toBe(param);
  expect(error.status).toBe(400);
  expect(error.message).toMatch(/^\S.{10,}[.]$/s);
});

test('calls with the same id, in one message or in several, pass with a result each', () => {
  const result = { role: 'tool', content: 'x', tool_call_id: 'call_1' };
  const twice = { ...calling, tool_calls: [...calling.tool_calls, ...calling.tool_calls] };
  expect(() => checkMessages([user, twice, result, result, calling, result, twice, result, result])).not.toThrow();
});
