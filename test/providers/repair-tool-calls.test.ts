import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { call, CONTEXT, decode, deltas, ENVELOPE, made } from './relayed.ts';

describe('tool calls in a relayed stream', () => {
  const first = { role: 'assistant' };
  test.each<[string, JsonObject[], unknown[]]>([
    [
      'without ids and indexes are distinguished by their names',
      [{ ...first, tool_calls: [call('a', '{'), call('b', '{}')] }, { tool_calls: [{ function: { arguments: '' } }] }],
      [
        { ...first, tool_calls: [made(0, 'a', '{')] },
        { tool_calls: [made(1, 'b', '{}')] },
        { tool_calls: [{ index: 1, function: { arguments: '' } }] },
        {},
      ],
    ],
    [
      'without ids and indexes are never merged, even if they call the same tool',
      [
        { ...first, tool_calls: [call('a', '{}'), call('a', '{"b":1}')] },
        { tool_calls: [call('a', { b: 2 })] },
        { tool_calls: [call('a', '')] },
        { tool_calls: [call('a', '')] },
      ],
      [
        { ...first, tool_calls: [made(0, 'a', '{}')] },
        { tool_calls: [made(1, 'a', '{"b":1}')] },
        { tool_calls: [made(2, 'a', '{"b":2}')] },
        { tool_calls: [made(3, 'a', '')] },
        { tool_calls: [{ index: 3, function: { arguments: '{}' } }] },
        { tool_calls: [made(4, 'a', '')] },
        { tool_calls: [{ index: 4, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'without ids and indexes that are named again in every piece are one call',
      [{ ...first, tool_calls: [call('a', '')] }, { tool_calls: [call('a', '{"b"')] }, { tool_calls: [call('a', ':1}')] }],
      [
        { ...first, tool_calls: [made(0, 'a', '')] },
        { tool_calls: [{ index: 0, function: { arguments: '{"b"' } }] },
        { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
        {},
      ],
    ],
    [
      'without indexes that have the same id are distinguished by their names',
      [
        { ...first, tool_calls: [call('a', '{}', { id: 'x' })] },
        { tool_calls: [call('b', '{', { id: 'x' })] },
        { tool_calls: [{ id: 'x', function: { arguments: '}' } }] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', '{}'), id: 'x' }] },
        { tool_calls: [made(1, 'b', '{')] },
        { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
        {},
      ],
    ],
    [
      'that are none leave no list, which clients would send back',
      [{ ...first, content: '', tool_calls: [] }, { content: 'a', tool_calls: [] }, { tool_calls: [] }],
      [{ ...first, content: '' }, { content: 'a' }, {}],
    ],
    [
      'that are null leave no field, which clients would take for a list',
      [{ ...first, content: '', tool_calls: null, function_call: null }, { content: 'a', tool_calls: null }, { tool_calls: null }],
      [{ ...first, content: '' }, { content: 'a' }, {}],
    ],
    [
      'are not announced by a piece with nothing in it, which clients refuse for its missing name',
      [
        { ...first, content: null, tool_calls: [{ index: 0, id: '', type: 'function', function: { arguments: null } }] },
        { tool_calls: [call('a', null, { id: 'x', index: 0 })] },
        { tool_calls: [call('', '{}', { id: '', index: 0 }), call('', '', { id: '', index: 1 })] },
        {},
      ],
      [
        { ...first, content: '' },
        { tool_calls: [{ ...made(0, 'a', ''), id: 'x' }] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'with an empty id and type get one',
      [{ ...first, tool_calls: [call('a', '{}', { id: '', index: 0, type: '' })] }, {}],
      [{ ...first, tool_calls: [made(0, 'a', '{}')] }, {}],
    ],
    [
      'without arguments get empty ones at the end',
      [{ ...first, tool_calls: [call('a', ''), call('b', '{}')] }, {}],
      [
        { ...first, tool_calls: [made(0, 'a', '')] },
        { tool_calls: [made(1, 'b', '{}')] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'without arguments get empty ones before a later chunk starts the next call',
      [
        { ...first, tool_calls: [call('a', '', { id: 'x', index: 0 })] },
        { tool_calls: [{ index: 0, function: { arguments: '' } }] },
        { tool_calls: [call('b', '', { id: 'y', index: 1 })] },
        { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', ''), id: 'x' }] },
        { tool_calls: [{ index: 0, function: { arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        { tool_calls: [{ ...made(1, 'b', ''), id: 'y' }] },
        { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'that start together receive their arguments in turn',
      [
        { ...first, tool_calls: [call('a', '', { id: 'x', index: 0 }), call('b', '', { id: 'y', index: 1 })] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', ''), id: 'x' }] },
        { tool_calls: [{ ...made(1, 'b', ''), id: 'y' }] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'that arrive whole with the end get empty arguments too',
      [{ ...first, tool_calls: [{ id: 'x', function: { name: 'a' } }] }],
      [
        { ...first, tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'a', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'start with arguments, even if empty',
      [
        { ...first, tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'a' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      ],
      [{ ...first, tool_calls: [{ ...made(0, 'a', ''), id: 'x' }] }, { tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, {}],
    ],
    [
      'start with a function even if it is sent later, because clients look into it',
      [
        { ...first, tool_calls: [{ index: 0, id: 'x', type: 'function' }] },
        { tool_calls: [{ index: 0, function: { name: 'a', arguments: '{}' } }] },
      ],
      [
        { ...first, tool_calls: [{ index: 0, id: 'x', type: 'function', function: { arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { name: 'a', arguments: '{}' } }] },
        {},
      ],
    ],
    [
      'with an object as arguments get it as JSON',
      [{ ...first, tool_calls: [call('a', { b: 1 })] }, {}],
      [{ ...first, tool_calls: [made(0, 'a', '{"b":1}')] }, {}],
    ],
    [
      'that share an index are distinguished by their ids, also piece by piece',
      [
        { ...first, tool_calls: [call('a', '{', { id: 'x', index: 0 })] },
        { tool_calls: [{ index: 0, id: 'x', function: { arguments: '}' } }] },
        { tool_calls: [call('a', '{', { id: 'y', index: 0 }), call('b', '{}', { id: 'z', index: 1 })] },
        { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', '{'), id: 'x' }] },
        { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
        { tool_calls: [{ ...made(1, 'a', '{'), id: 'y' }] },
        { tool_calls: [{ ...made(2, 'b', '{}'), id: 'z' }] },
        { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
        {},
      ],
    ],
    [
      'are numbered from 0, whatever a host counts along, because clients use the index as a position',
      [
        { ...first, tool_calls: [call('a', '{', { id: 'x', index: 2 })] },
        { tool_calls: [{ index: 2, function: { arguments: '}' } }] },
        { tool_calls: [call('b', '{}', { id: 'y', index: -1 }), call('c', '{', { index: 5 })] },
        { tool_calls: [{ index: 5, function: { arguments: '}' } }] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', '{'), id: 'x' }] },
        { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
        { tool_calls: [{ ...made(1, 'b', '{}'), id: 'y' }] },
        { tool_calls: [made(2, 'c', '{')] },
        { tool_calls: [{ index: 2, function: { arguments: '}' } }] },
        {},
      ],
    ],
    [
      'whose index is only in their later pieces are one call',
      [{ ...first, tool_calls: [call('a', '{', { id: 'x' })] }, { tool_calls: [call('a', '}', { id: 'x', index: 0 })] }],
      [{ ...first, tool_calls: [{ ...made(0, 'a', '{'), id: 'x' }] }, { tool_calls: [{ index: 0, function: { arguments: '}' } }] }, {}],
    ],
    [
      'whose pieces have different ids are one call',
      [
        { ...first, tool_calls: [call('a', '{', { id: 'x', index: 0 })] },
        { tool_calls: [{ index: 0, id: 'y', type: 'function', function: { arguments: '}' } }] },
      ],
      [{ ...first, tool_calls: [{ ...made(0, 'a', '{'), id: 'x' }] }, { tool_calls: [{ index: 0, function: { arguments: '}' } }] }, {}],
    ],
    [
      'of custom tools without a type are labelled so',
      [{ ...first, tool_calls: [{ custom: { name: 'a', input: 'b' } }, { custom: { name: 'a', input: 'c' } }] }, { content: null }],
      [
        { ...first, tool_calls: [{ index: 0, id: 'call_req_1_0', type: 'custom', custom: { name: 'a', input: 'b' } }] },
        { tool_calls: [{ index: 1, id: 'call_req_1_1', type: 'custom', custom: { name: 'a', input: 'c' } }] },
        { content: null },
      ],
    ],
    [
      'with the id of an earlier call get an id of their own, because clients answer calls by id',
      [
        { ...first, tool_calls: [call('a', '', { id: 'x', index: 0 }), call('b', '{', { id: 'x', index: 1 })] },
        { tool_calls: [call('a', '{}', { id: 'x', index: 0 })] },
        { tool_calls: [call('b', '}', { id: 'x', index: 1 })] },
      ],
      [
        { ...first, tool_calls: [{ ...made(0, 'a', ''), id: 'x' }] },
        { tool_calls: [made(1, 'b', '{')] },
        { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
        {},
      ],
    ],
    [
      'of custom tools stay unchanged',
      [{ ...first, tool_calls: [{ index: 0, id: 'x', type: 'custom', custom: { name: 'a', input: 'b' } }] }, { content: null }],
      [{ ...first, tool_calls: [{ index: 0, id: 'x', type: 'custom', custom: { name: 'a', input: 'b' } }] }, { content: null }],
    ],
  ])('%s', (_, given, expected) => {
    expect(deltas(...given)).toEqual(expected);
  });

  test.each<[string, JsonObject]>([
    ['a null delta', { index: 0, delta: null, finish_reason: 'tool_calls' }],
    ['no delta', { index: 0, finish_reason: 'tool_calls' }],
    ['a message instead of a delta', { index: 0, message: {}, finish_reason: 'tool_calls' }],
    ['neither delta nor index', { finish_reason: 'tool_calls' }],
  ])('without arguments get empty ones at a final chunk with %s', (_, end) => {
    const sent = decode({ index: 0, delta: { tool_calls: [call('a', '')] }, finish_reason: null }, end);
    expect(sent.slice(1)).toMatchObject([
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ]);
  });

  test('that each come with an end are still counted on', () => {
    const ending = { index: 0, finish_reason: 'stop' };
    const said = ['x', 'y'].map((id) => ({ ...ending, delta: { tool_calls: [call('a', '{}', { id, index: 0 })] } }));
    const calls = decode(...said).flatMap(({ choices }) => choices.map(({ delta }) => delta as JsonObject));
    expect(calls.flatMap((delta) => delta['tool_calls'] ?? [])).toEqual([
      { ...made(0, 'a', '{}'), id: 'x' },
      { ...made(1, 'a', '{}'), id: 'y' },
    ]);
  });

  test('without arguments get empty ones even if the choice has no index and no end', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const choices = [{ delta: { tool_calls: [call('a', '')] } }];
    decoder.push({ name: undefined, data: JSON.stringify({ ...ENVELOPE, choices }) });
    const [piece = ''] = decoder.push({ name: undefined, data: '[DONE]' });
    expect(JSON.parse(piece)).toMatchObject({ choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: '{}' } }] } }] });
  });

  test('in one list are sent one by one, because some clients read only the first entry', () => {
    const said = { role: 'assistant', content: 'Let me see.', reasoning_content: 'Hm' };
    const tool_calls = [made(0, 'a', '{}'), made(1, 'b', '{}'), made(2, 'c', '{}')];
    const other = { index: 1, delta: { role: 'assistant', content: 'No.' }, logprobs: null, finish_reason: null };
    const given = { index: 0, delta: { ...said, tool_calls }, logprobs: { content: [] }, finish_reason: 'tool_calls', odd: 2 };
    const decoder = openai.decodeStream(CONTEXT);
    const chunks = decoder
      .push({ name: undefined, data: JSON.stringify({ ...ENVELOPE, choices: [given, other] }) })
      .map((text) => JSON.parse(text) as JsonObject);
    const head = { ...ENVELOPE, model: 'ours' };
    const open = { index: 0, logprobs: null, finish_reason: null, odd: 2 };
    expect(chunks).toEqual([
      { ...head, choices: [{ ...open, delta: { ...said, tool_calls: [tool_calls[0]] }, logprobs: { content: [] } }] },
      { ...head, choices: [{ ...open, delta: { tool_calls: [tool_calls[1]] } }] },
      { ...head, choices: [{ ...open, delta: { tool_calls: [tool_calls[2]] } }] },
      { ...head, choices: [{ ...open, delta: {}, finish_reason: 'tool_calls' }] },
      { ...head, choices: [other] },
    ]);
  });
});
