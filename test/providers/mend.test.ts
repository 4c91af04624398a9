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
  test('that is in order passes as it is', () => {
    const choice = { index: 0, delta: { role: 'assistant', content: 'a', odd: [1] }, logprobs: null, finish_reason: null, odd: 2 };
    expect(decode(choice)).toEqual([{ ...ENVELOPE, model: 'ours', choices: [choice] }] as never);
  });

  test('has the id, the time and the kind of the first one', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: null }];
    const heads = [{ object: '', created: 1.5 }, { id: 'other', created: 9 }, {}].flatMap((head) =>
      decoder.push({ name: undefined, data: JSON.stringify({ ...head, choices }) }).map((text) => {
        const { id, created, object } = JSON.parse(text) as JsonObject;
        return { id, created, object };
      }),
    );
    expect(new Set(heads.map((head) => JSON.stringify(head))).size).toBe(1);
    expect(heads[0]).toEqual({ id: 'chatcmpl-req_1', created: 7, object: 'chat.completion.chunk' });
  });

  test.each<[string, JsonObject[], JsonObject[]]>([
    [
      'a role that is missing at the beginning',
      [{ content: 'a' }, { content: 'b' }],
      [{ role: 'assistant', content: 'a' }, { content: 'b' }, {}],
    ],
    [
      'a role that is empty',
      [
        { role: '', content: 'a' },
        { role: '', content: 'b' },
      ],
      [{ role: 'assistant', content: 'a' }, { content: 'b' }, {}],
    ],
    [
      'a role that is repeated',
      [{ role: 'assistant' }, { role: 'assistant', content: 'b' }, { role: 'assistant' }],
      [{ role: 'assistant' }, { content: 'b' }, {}],
    ],
  ])('is mended: %s', (_, given, expected) => {
    expect(deltas(...given)).toEqual(expected);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['no index and no delta', { finish_reason: null }, { index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    ['an end that is empty', { index: 0, delta: {}, finish_reason: '' }, { finish_reason: null }],
    ['an end that is missing', { index: 0, delta: {} }, { finish_reason: null }],
    ['an end in other words', { index: 0, delta: {}, finish_reason: 'model_length' }, { finish_reason: 'length' }],
    ['an end in unknown words', { index: 0, delta: {}, finish_reason: 'eos' }, { finish_reason: 'stop' }],
  ])('is mended: %s', (_, given, expected) => {
    expect(decode(given)[0]?.choices[0]).toMatchObject(expected);
  });

  test('cites everything at the end of its choice, in one list', () => {
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

  test('cites also where the host forgets the end, or the gate cuts it off', () => {
    const cited = { ...ENVELOPE, choices: [{ index: 0, delta: { content: 'a', annotations: [{ url: 1 }] }, finish_reason: null }] };
    const decoder = openai.decodeStream({ ...CONTEXT, choiceIndex: 3 });
    decoder.push({ name: undefined, data: JSON.stringify(cited) });
    const [end] = decoder.cut().map((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices[0]);
    expect(end).toEqual({ index: 3, delta: { annotations: [{ url: 1 }] }, logprobs: null, finish_reason: 'length' });
  });

  test('that is the end before anything was said completes nothing', () => {
    const decoder = openai.decodeStream(CONTEXT);
    decoder.push({ name: undefined, data: '[DONE]' });
    expect([decoder.isDone, decoder.isComplete]).toEqual([true, false]);
  });

  test('whose end is an error is a fault', () => {
    expect(faultOf(() => decode({ index: 0, delta: {}, finish_reason: 'error' }))).toMatchObject({ status: 502 });
  });
});

test('an empty list of tool calls is nothing that was said', () => {
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
])('the end of a relayed choice comes behind %s that came with it, since some clients miss that', (_, said) => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }];
  const begun = { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
  const sent = decode(begun, { ...begun, delta: { ...said, annotations }, logprobs: { content: [] }, finish_reason: 'stop' });
  expect(sent.map(({ choices }) => choices[0] as unknown)).toEqual([
    begun,
    { ...begun, delta: said, logprobs: { content: [] } },
    { ...begun, delta: { annotations }, finish_reason: 'stop' },
  ]);
});

describe('a relayed answer', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['gets what it must have', {}, { content: '' }],
    ['of reasoning alone has a text that is empty', { content: null, reasoning_content: 'b' }, { content: '', reasoning_content: 'b' }],
    ['that speaks has no text', { audio: { id: 'a' } }, { content: null, audio: { id: 'a' } }],
    ['keeps its refusal', { refusal: 'No.' }, { content: null, refusal: 'No.' }],
    ['gets reasoning by its usual name', { content: 'a', reasoning: 'b' }, { content: 'a', reasoning: 'b', reasoning_content: 'b' }],
    ['has no empty list of calls', { content: 'a', tool_calls: [] }, { content: 'a' }],
    [
      'has whole calls',
      { tool_calls: [call('a', null), call('b', { c: 1 }, { id: 'x' }), { id: 'y', type: 'custom', custom: { name: 'd', input: '' } }] },
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

  test('has an identity, an index and an end', () => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [{ message: { content: 'a' } }] }), CONTEXT);
    expect(body).toEqual({
      id: 'chatcmpl-req_1',
      object: 'chat.completion',
      created: 7,
      model: 'ours',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    });
  });

  test('that says nothing has no trace of a chunk', () => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [{ finish_reason: 'stop' }] }), CONTEXT);
    expect((body['choices'] as JsonObject[])[0]).not.toHaveProperty('delta');
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['a message that is missing is one that says nothing', { finish_reason: 'stop' }, { message: { content: '' }, finish_reason: 'stop' }],
    [
      'an end that is missing after calls is that of calls',
      { message: { tool_calls: [call('a', '{}')] } },
      { finish_reason: 'tool_calls' },
    ],
    ['a refusal stays', { message: { refusal: 'No.' } }, { message: { content: null, refusal: 'No.' } }],
    ['what is told of tokens stays', { message: { content: 'a' }, logprobs: { content: [] } }, { logprobs: { content: [] } }],
  ])('%s', (_, given, expected) => {
    const { body } = openai.decodeReply(JSON.stringify({ choices: [given] }), CONTEXT);
    expect(body['choices']).toMatchObject([expected]);
  });
});
