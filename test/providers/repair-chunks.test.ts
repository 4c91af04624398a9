import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { faultOf } from './fault-of.ts';
import { call, CONTEXT, decode, deltas, ENVELOPE, made } from './relayed.ts';

function message(given: JsonObject): unknown {
  const { body } = openai.decodeReply(JSON.stringify({ choices: [{ index: 0, message: given, finish_reason: 'stop' }] }), CONTEXT);
  return (body['choices'] as JsonObject[])[0]?.['message'];
}

describe('a relayed chunk', () => {
  test('that is well-formed passes unchanged', () => {
    const choice = { index: 0, delta: { role: 'assistant', content: 'a', odd: [1] }, logprobs: null, finish_reason: null, odd: 2 };
    expect(decode(choice)).toEqual([{ ...ENVELOPE, model: 'ours', choices: [choice] }] as never);
  });

  test('has the id, time and object type of the first one', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: null }];
    const heads = [{ object: '', created: 1_762_178_257_774 }, { id: 'other', created: 9 }, {}].flatMap((head) =>
      decoder.push({ name: undefined, data: JSON.stringify({ ...head, choices }) }).map((text) => {
        const { id, created, object } = JSON.parse(text) as JsonObject;
        return { id, created, object };
      }),
    );
    expect(new Set(heads.map((head) => JSON.stringify(head))).size).toBe(1);
    expect(heads[0]).toEqual({ id: 'chatcmpl-req_1', created: 7, object: 'chat.completion.chunk' });
  });

  test.each<[string, JsonObject[], JsonObject[]]>([
    ['a missing role at the start', [{ content: 'a' }, { content: 'b' }], [{ role: 'assistant', content: 'a' }, { content: 'b' }, {}]],
    [
      'an empty role',
      [
        { role: '', content: 'a' },
        { role: '', content: 'b' },
      ],
      [{ role: 'assistant', content: 'a' }, { content: 'b' }, {}],
    ],
    [
      'a repeated role',
      [{ role: 'assistant' }, { role: 'assistant', content: 'b' }, { role: 'assistant' }],
      [{ role: 'assistant', content: '' }, { content: 'b' }, {}],
    ],
    [
      'no text at the start, so that an answer of thoughts alone has some',
      [{ role: 'assistant', content: null, reasoning_content: '' }, { content: null, reasoning_content: 'a' }, { content: null }],
      [{ role: 'assistant', content: '', reasoning_content: '' }, { content: null, reasoning_content: 'a' }, { content: null }],
    ],
    [
      'no text at the start, next to a refusal',
      [{ role: 'assistant', content: null, refusal: 'a' }, {}],
      [{ role: 'assistant', content: null, refusal: 'a' }, {}],
    ],
  ])('is repaired: %s', (_, given, expected) => {
    expect(deltas(...given)).toEqual(expected);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['no index and no delta', { finish_reason: null }, { index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    ['an empty finish reason', { index: 0, delta: {}, finish_reason: '' }, { finish_reason: null }],
    ['a missing finish reason', { index: 0, delta: {} }, { finish_reason: null }],
    ['a host-specific finish reason', { index: 0, delta: {}, finish_reason: 'model_length' }, { finish_reason: 'length' }],
    ['an unknown finish reason', { index: 0, delta: {}, finish_reason: 'eos' }, { finish_reason: 'stop' }],
  ])('is repaired: %s', (_, given, expected) => {
    expect(decode(given)[0]?.choices[0]).toMatchObject(expected);
  });

  test('carries all citations at the end of its choice, in one list', () => {
    expect(
      deltas(
        { role: 'assistant', content: 'a', annotations: [{ url: 1 }] },
        { content: 'b', annotations: [{ url: 1 }] },
        { content: 'c', annotations: [{ url: 1 }] },
        { annotations: [{ url: 2 }] },
        {},
      ),
    ).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }, { content: 'c' }, {}, { annotations: [{ url: 1 }, { url: 2 }] }]);
  });

  test('carries citations even if the host omits the end or the gateway cuts the stream', () => {
    const cited = { ...ENVELOPE, choices: [{ index: 0, delta: { content: 'a', annotations: [{ url: 1 }] }, finish_reason: null }] };
    const decoder = openai.decodeStream({ ...CONTEXT, choiceIndex: 3 });
    decoder.push({ name: undefined, data: JSON.stringify(cited) });
    const [end] = decoder.cut().map((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices[0]);
    expect(end).toEqual({ index: 3, delta: { annotations: [{ url: 1 }] }, logprobs: null, finish_reason: 'length' });
  });

  test('that is [DONE] before any output does not complete the answer', () => {
    const decoder = openai.decodeStream(CONTEXT);
    decoder.push({ name: undefined, data: '[DONE]' });
    expect([decoder.isDone, decoder.isComplete]).toEqual([true, false]);
  });

  test('with an error as finish reason is a fault', () => {
    expect(faultOf(() => decode({ index: 0, delta: {}, finish_reason: 'error' }))).toMatchObject({ status: 502 });
  });
});

describe('what a host puts in the wrong place is found', () => {
  const said = { role: 'assistant', content: 'a' };
  test.each<[string, JsonObject[], unknown[]]>([
    [
      'messages in place of deltas',
      [{ message: said }, { message: { content: 'b' } }, { message: {}, finish_reason: 'stop' }],
      [{ delta: said }, { delta: { content: 'b' } }, { delta: {}, finish_reason: 'stop' }],
    ],
    [
      'the text of the older API',
      [{ text: 'a' }, { text: '', finish_reason: 'stop' }],
      [{ delta: said }, { delta: { content: '' }, finish_reason: 'stop' }],
    ],
    [
      'a message after deltas, which repeats them',
      [{ delta: said }, { message: said, finish_reason: 'stop' }],
      [{ delta: said }, { delta: {}, finish_reason: 'stop' }],
    ],
  ])('in a stream: %s', (_, given, expected) => {
    expect(decode(...given).map(({ choices }) => choices[0] as unknown)).toMatchObject(expected);
  });

  test.each<[string, JsonObject]>([
    ['a delta in place of the message', { delta: said }],
    ['the text of the older API', { text: 'a' }],
  ])('in an answer: %s', (_, choice) => {
    const reply = openai.decodeReply(JSON.stringify({ object: 'text_completion', choices: [choice] }), CONTEXT);
    const whole = { role: 'assistant', content: 'a', refusal: null };
    const choices = [{ index: 0, message: whole, logprobs: null, finish_reason: 'stop' }];
    expect(reply.body).toMatchObject({ object: 'chat.completion' });
    expect(reply.body['choices']).toEqual(choices);
    expect(reply.outputText).toBe('a');
  });
});

test.each([
  [1, 1, 0],
  [-1, 1, 0],
  [7, 2, 0],
  [1, 2, 1],
])('a relayed choice with index %p of %p has index %p', (index, n, expected) => {
  const context = { ...CONTEXT, chat: { ...CONTEXT.chat, n } };
  const choices = [{ index, delta: { content: 'a' }, message: { content: 'a' }, finish_reason: 'stop' }];
  const data = JSON.stringify({ choices });
  const chunks = openai.decodeStream(context).push({ name: undefined, data });
  const indexes = chunks.flatMap((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices.map((choice) => choice['index']));
  expect(new Set(indexes)).toEqual(new Set([expected]));
  expect(openai.decodeReply(data, context).body['choices']).toMatchObject([{ index: expected }]);
});

test('a relayed choice ends once, because some clients join the reasons or report its tool calls again', () => {
  const end = { index: 0, delta: {}, finish_reason: 'tool_calls' };
  const late = [end, { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }, { index: 0, finish_reason: null }];
  const note = { index: 0, delta: {}, finish_reason: 'stop', content_filter_results: {} };
  const sent = decode({ index: 0, delta: { tool_calls: [made(0, 'a', '{}')] } }, end, ...late, { ...end, index: 1 }, note);
  expect(sent.slice(1).map(({ choices }) => choices[0] as unknown)).toEqual([
    end,
    { index: 1, delta: { role: 'assistant', content: '' }, finish_reason: 'tool_calls' },
    { ...note, finish_reason: null },
  ]);
});

test.each([
  ['in an earlier chunk', [{ tool_calls: [made(0, 'a', '{}')] }, {}]],
  ['in the same chunk', [{ tool_calls: [made(0, 'a', '{}')] }]],
])('a relayed choice that calls a tool %s ends with tool_calls, whatever the host writes for a normal end', (_, given) => {
  for (const reason of ['stop', 'tool_call']) {
    const last = given.length - 1;
    const sent = decode(...given.map((delta, at) => ({ index: 0, delta, finish_reason: at === last ? reason : null })));
    expect(sent.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
  }
});

test('a tool that the caller named may end with stop, as at OpenAI', () => {
  const chat = { ...CONTEXT.chat, tool_choice: { type: 'function', function: { name: 'a' } } };
  const choices = [{ index: 0, message: { tool_calls: [made(0, 'a', '{}')] }, finish_reason: 'stop' }];
  expect(openai.decodeReply(JSON.stringify({ choices }), { ...CONTEXT, chat }).body).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
  });
});

test('an empty list of tool calls is not output', () => {
  const decoder = openai.decodeStream(CONTEXT);
  const choices = [{ index: 0, delta: { content: '', tool_calls: [] }, finish_reason: null }];
  decoder.push({ name: undefined, data: JSON.stringify({ ...ENVELOPE, choices }) });
  expect(decoder).toMatchObject({ outputText: '', hasOutput: false });
});

test.each<[string, JsonObject]>([
  ['text', { content: 'b' }],
  ['a refusal', { refusal: 'b' }],
  ['reasoning', { reasoning_content: 'b' }],
  ['a tool call', { tool_calls: [made(0, 'a', '{}')] }],
])('the end of a relayed choice follows %s sent with it, because some clients would miss it', (_, said) => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }];
  const started = { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
  const sent = decode(started, { ...started, delta: { ...said, annotations }, logprobs: { content: [] }, finish_reason: 'length' });
  expect(sent.map(({ choices }) => choices[0] as unknown)).toEqual([
    started,
    { ...started, delta: said, logprobs: { content: [] } },
    { ...started, delta: { annotations }, finish_reason: 'length' },
  ]);
});

describe('a relayed answer', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['gets the required fields', {}, { content: '' }],
    ['with only reasoning has an empty text', { content: null, reasoning_content: 'b' }, { content: '', reasoning_content: 'b' }],
    ['with audio has no text', { audio: { id: 'a' } }, { content: null, audio: { id: 'a' } }],
    ['keeps its refusal', { refusal: 'No.' }, { content: null, refusal: 'No.' }],
    ['gets reasoning under its usual name', { content: 'a', reasoning: 'b' }, { content: 'a', reasoning: 'b', reasoning_content: 'b' }],
    ['has no empty list of tool calls', { content: 'a', tool_calls: [] }, { content: 'a' }],
    ['has no null for calls and citations', { content: 'a', tool_calls: null, function_call: null, annotations: null }, { content: 'a' }],
    [
      'has complete tool calls',
      {
        tool_calls: [
          call('a', null),
          call('b', { c: 1 }, { id: 'x', type: '' }),
          { id: 'y', type: 'custom', custom: { name: 'd', input: '' } },
        ],
      },
      {
        content: null,
        tool_calls: [
          { id: 'call_req_1_0', type: 'function', function: { name: 'a', arguments: '{}' } },
          { id: 'x', type: 'function', function: { name: 'b', arguments: '{"c":1}' } },
          { id: 'y', type: 'custom', custom: { name: 'd', input: '' } },
        ],
      },
    ],
  ])('%s', (_, given, expected) => {
    expect(message(given)).toEqual({ role: 'assistant', refusal: null, ...expected });
  });

  test('has an id, an index and a finish reason', () => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [{ message: { content: 'a' } }] }), CONTEXT);
    expect(body).toEqual({
      id: 'chatcmpl-req_1',
      object: 'chat.completion',
      created: 7,
      model: 'ours',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    });
  });

  test.each([1_762_178_257_774, -1, 1.5, '1762178257'])('gets our time instead of %p, which is no integer in seconds', (created) => {
    const { body } = openai.decodeReply(JSON.stringify({ created, choices: [{ message: { content: 'a' } }] }), CONTEXT);
    expect(body['created']).toBe(7);
  });

  test('without output has no trace of a chunk', () => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [{ finish_reason: 'stop' }] }), CONTEXT);
    expect((body['choices'] as JsonObject[])[0]).not.toHaveProperty('delta');
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['a missing message becomes an empty one', { finish_reason: 'stop' }, { message: { content: '' }, finish_reason: 'stop' }],
    [
      'a missing finish reason after tool calls becomes tool_calls',
      { message: { tool_calls: [call('a', '{}')] } },
      { finish_reason: 'tool_calls' },
    ],
    ...['tool_call', 'stop'].map((reason): [string, JsonObject, JsonObject] => [
      `the finish reason ${reason} after tool calls becomes tool_calls`,
      { message: { tool_calls: [call('a', '{}')] }, finish_reason: reason },
      { finish_reason: 'tool_calls' },
    ]),
    ['a refusal stays', { message: { refusal: 'No.' } }, { message: { content: null, refusal: 'No.' } }],
    ['log probabilities stay', { message: { content: 'a' }, logprobs: { content: [] } }, { logprobs: { content: [] } }],
  ])('%s', (_, given, expected) => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [given] }), CONTEXT);
    expect(body['choices']).toMatchObject([expected]);
  });
});
