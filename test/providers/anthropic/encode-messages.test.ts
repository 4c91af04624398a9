import { legacyCallId } from '../../../src/providers/call-ids.ts';
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { assistant, bodyOf, call, encodeMessages, MARK, result, text, toolUse, user } from './encoding.ts';

const OLD_ID = legacyCallId({ name: 'f', arguments: '{"a":1}' });

describe('a conversation', () => {
  test.each<[string, JsonObject[], unknown, JsonObject[]]>([
    [
      'starts with its instructions',
      [
        { role: 'system', content: 'A' },
        { role: 'developer', content: [text('B')] },
        { role: 'user', content: 'Hi' },
      ],
      'A\nB',
      [user(text('Hi'))],
    ],
    [
      'keeps cache marks',
      [
        { role: 'system', content: [{ ...text('A'), ...MARK }] },
        { role: 'user', content: [{ ...text('Hi'), prompt_cache_breakpoint: { mode: 'explicit' } }] },
      ],
      [{ ...text('A'), ...MARK }],
      [user({ ...text('Hi'), ...MARK })],
    ],
    ['of instructions alone becomes the user’s message', [{ role: 'system', content: 'A' }], undefined, [user(text('A'))]],
    ['without content gets a placeholder', [{ role: 'system', content: '' }], undefined, [user(text('.'))]],
    [
      'may have instructions after a user message',
      [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'A' },
        { role: 'developer', content: 'B' },
        { role: 'assistant', content: 'Ho' },
        { role: 'user', content: 'And?' },
      ],
      undefined,
      [user(text('Hi')), { role: 'system', content: [text('A'), text('B')] }, assistant(text('Ho')), user(text('And?'))],
    ],
    [
      'moves other instructions to the start',
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Ho' },
        { role: 'system', content: 'A' },
        { role: 'user', content: 'And?' },
      ],
      'A',
      [user(text('Hi')), assistant(text('Ho')), user(text('And?'))],
    ],
    [
      'merges adjacent messages of one role',
      [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
      undefined,
      [user(text('a'), text('b')), assistant(text('c'), text('d')), user(text('e'))],
    ],
    [
      'starts with the user',
      [
        { role: 'assistant', content: 'Welcome' },
        { role: 'user', content: 'Hi' },
      ],
      undefined,
      [user(text('.')), assistant(text('Welcome')), user(text('Hi'))],
    ],
    [
      'ends with the user',
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Ho ' },
      ],
      undefined,
      [user(text('Hi')), assistant(text('Ho ')), user(text('Continue.'))],
    ],
    [
      'has no blank text',
      [
        { role: 'user', content: [text(' '), text('a')] },
        { role: 'assistant', content: '\n' },
        { role: 'user', content: '' },
      ],
      undefined,
      [user(text('a'), text('.'))],
    ],
    [
      'keeps refusals',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'Never.' }] },
        { role: 'user', content: 'c' },
      ],
      undefined,
      [user(text('a')), assistant(text('No.')), user(text('b')), assistant(text('Never.')), user(text('c'))],
    ],
    [
      'drops reasoning that a client sends back',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, text('b')], reasoning_content: 'hm' },
        { role: 'user', content: 'c' },
      ],
      undefined,
      [user(text('a')), assistant(text('b')), user(text('c'))],
    ],
    [
      'has all results of a turn in one message, before the user’s text',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', tool_calls: [call('1'), call('2', 'weather', '')] },
        { role: 'tool', tool_call_id: '1', content: 'x' },
        { role: 'tool', tool_call_id: '2', content: [text('y')] },
        { role: 'user', content: 'c' },
      ],
      undefined,
      [user(text('a')), assistant(text('b'), toolUse('1'), toolUse('2', {})), user(result('1', 'x'), result('2', 'y'), text('c'))],
    ],
    [
      'makes repeated ids different',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [call('call_0'), call('call_0_2')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'b' },
        { role: 'tool', tool_call_id: 'call_0_2', content: 'c' },
        { role: 'assistant', content: null, tool_calls: [call('call_0')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'd' },
        { role: 'assistant', content: null, tool_calls: [call('call_0')] },
        { role: 'tool', tool_call_id: 'call_0', content: 'e' },
      ],
      undefined,
      [
        user(text('a')),
        assistant(toolUse('call_0'), toolUse('call_0_2')),
        user(result('call_0', 'b'), result('call_0_2', 'c')),
        assistant(toolUse('call_0_3')),
        user(result('call_0_3', 'd')),
        assistant(toolUse('call_0_4')),
        user(result('call_0_4', 'e')),
      ],
    ],
    [
      'answers calls with the same id in their order',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [call('x'), call('x')] },
        { role: 'tool', tool_call_id: 'x', content: 'b' },
        { role: 'tool', tool_call_id: 'x', content: 'c' },
      ],
      undefined,
      [user(text('a')), assistant(toolUse('x'), toolUse('x_2')), user(result('x', 'b'), result('x_2', 'c'))],
    ],
    [
      'encodes ids so that the provider accepts them',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', tool_calls: [call('call:1.x'), call('')] },
        { role: 'tool', tool_call_id: 'call:1.x', content: '' },
        { role: 'tool', tool_call_id: '', content: [{ ...text('y'), ...MARK }] },
      ],
      undefined,
      [
        user(text('a')),
        assistant(toolUse('call_1_x_c68cd211'), toolUse('__e3b0c442')),
        user({ type: 'tool_result', tool_use_id: 'call_1_x_c68cd211' }, { ...result('__e3b0c442', 'y'), ...MARK }),
      ],
    ],
    [
      'reads legacy function calls',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'x' },
      ],
      undefined,
      [user(text('a')), assistant(toolUse(OLD_ID, { a: 1 }, 'f')), user(result(OLD_ID, 'x'))],
    ],
    [
      'reads a legacy call without a result, and a result without a call',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b', function_call: { name: 'f' } },
        { role: 'user', content: 'c' },
        { role: 'function', name: 'f', content: 'x' },
      ],
      undefined,
      [user(text('a')), assistant(text('b')), user(text('c'), text('x'))],
    ],
    [
      'supports tools with free text',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', tool_calls: [{ id: '1', type: 'custom', custom: { name: 'say', input: 'hi' } }] },
        { role: 'tool', tool_call_id: '1', content: 'x' },
      ],
      undefined,
      [user(text('a')), assistant(toolUse('1', { input: 'hi' }, 'say')), user(result('1', 'x'))],
    ],
  ])('%s', (_, messages, system, turns) => {
    const body = bodyOf(encodeMessages(messages));
    expect(body.messages).toEqual(turns);
    expect(body.system).toEqual(system);
  });

  test('moves instructions to the start on models that support them only there', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'A' },
    ];
    expect(bodyOf(encodeMessages(messages, { model: 'claude-sonnet-4-6' }))).toMatchObject({ system: 'A', messages: [user(text('Hi'))] });
  });

  test('lets an older model continue the caller’s prefill, without trailing white space', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Ho ' },
    ];
    expect(bodyOf(encodeMessages(messages, { model: 'claude-sonnet-4-5' })).messages).toEqual([user(text('Hi')), assistant(text('Ho'))]);
    const thinking = bodyOf(encodeMessages(messages, { model: 'claude-sonnet-4-5' }, { reasoning_effort: 'low' }));
    expect(thinking.messages.at(-1)).toEqual(user(text('Continue.')));
  });

  test('reports lost sender names', () => {
    expect(encodeMessages([{ role: 'user', name: 'ann', content: 'Hi' }]).dropped).toEqual(['messages[].name']);
  });

  test('reports a lost image detail', () => {
    const [high, usual] = ['high', 'auto'].map((detail) => {
      const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png', detail } };
      return encodeMessages([{ role: 'user', content: [image] }]).dropped;
    });
    expect(high).toEqual(['messages[].content[].image_url.detail']);
    expect(usual).toBeUndefined();
  });

  test('reports lost audio answers', () => {
    const heard = { role: 'assistant', content: null, audio: { id: 'audio_1' } };
    expect(encodeMessages([{ role: 'user', content: 'Hi' }, heard]).dropped).toEqual(['messages[].audio']);
  });

  test('keeps at most four cache marks, the last ones', () => {
    const messages = Array.from({ length: 6 }, (_, index) => ({ role: 'user', content: [{ ...text(`${index}`), ...MARK }] }));
    const [turn] = bodyOf(encodeMessages(messages)).messages;
    expect(turn?.content?.map((block) => 'cache_control' in block)).toEqual([false, false, true, true, true, true]);
  });
});

test('a paused answer is continued by sending back its content so far', () => {
  const paused = [{ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }];
  const body = bodyOf(encodeMessages([{ role: 'user', content: 'a' }], { continuation: JSON.stringify(paused) }));
  expect(body.messages).toEqual([user(text('a')), assistant(...paused)]);
});
