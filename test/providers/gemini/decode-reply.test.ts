import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { gemini } from '../../../src/providers/gemini/gemini.ts';
import type { DecodedReply, ReplyContext } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { CHAT, CONTEXT } from './given.ts';

const text = (value: string): JsonObject => ({ text: value });
const thought = (value: string): JsonObject => ({ text: value, thought: true });
const answer = (parts: readonly JsonObject[], ending: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0, ...ending }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
  modelVersion: 'gemini-3.1-pro-preview',
  responseId: 'resp1',
  ...more,
});

function decode(body: unknown, context: Partial<ReplyContext> = {}): DecodedReply {
  return gemini.decodeReply(JSON.stringify(body), { ...CONTEXT, ...context });
}

function choiceOf(reply: DecodedReply): JsonObject {
  const [choice] = reply.body['choices'] as JsonObject[];
  return choice ?? {};
}

describe('a complete answer', () => {
  test('has the OpenAI envelope, our ids and detailed usage', () => {
    expect(decode(answer([text('Hello')])).body).toEqual({
      id: 'chatcmpl-req_1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'gemini/x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, logprobs: null, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  test.each<[string, body: JsonObject, message: JsonObject, finish: string]>([
    ['text in pieces', answer([text('Hel'), text('lo')]), { content: 'Hello' }, 'stop'],
    ['thoughts', answer([thought('Hm. '), thought('So.'), text('Yes')]), { content: 'Yes', reasoning_content: 'Hm. So.' }, 'stop'],
    ['a signed text', answer([{ text: 'Hi', thoughtSignature: 'c2ln' }]), { content: 'Hi' }, 'stop'],
    [
      'an image',
      answer([text('Look'), { inlineData: { mimeType: 'image/png', data: 'iVBO' } }]),
      { content: 'Look', images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }] },
      'stop',
    ],
    ['unknown parts', answer([{ executableCode: {} }, text('Hi'), { text: 7 }]), { content: 'Hi' }, 'stop'],
    [
      'only thoughts before the limit',
      answer([thought('Hm')], { finishReason: 'MAX_TOKENS' }),
      { content: '', reasoning_content: 'Hm' },
      'length',
    ],
    ['no content before the limit', answer([], { finishReason: 'MAX_TOKENS', content: undefined }), { content: '' }, 'length'],
    ['no finish reason', answer([text('Hi')], { finishReason: undefined }), { content: 'Hi' }, 'stop'],
    ['no index', answer([text('Hi')], { index: undefined }), { content: 'Hi' }, 'stop'],
    ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }, { content: '' }, 'content_filter'],
    [
      'a blocked prompt with no candidates',
      { candidates: [], promptFeedback: { blockReason: 'JAILBREAK' } },
      { content: '' },
      'content_filter',
    ],
    ['a failed call after some text', answer([text('Well')], { finishReason: 'MALFORMED_FUNCTION_CALL' }), { content: 'Well' }, 'stop'],
    ['a break without a token', answer([text('One')], { finishReason: 'CONTINUATION' }), { content: 'One' }, 'length'],
  ])('has %s', (_, body, message, finish) => {
    expect(choiceOf(decode(body))).toMatchObject({ index: 0, finish_reason: finish });
    expect(choiceOf(decode(body))['message']).toEqual({ role: 'assistant', refusal: null, ...message });
  });

  test.each(
    ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE', 'MODEL_ARMOR', 'IMAGE_SAFETY'].concat([
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ]),
  )('that ended with %s was filtered', (finishReason) => {
    expect(choiceOf(decode(answer([], { finishReason })))).toMatchObject({ finish_reason: 'content_filter', message: { content: '' } });
  });

  test.each([
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'OTHER',
    'NO_IMAGE',
    'IMAGE_OTHER',
    'NEW_REASON',
    'constructor',
  ])('that ended with %s and no more than thoughts is a provider fault', (finishReason) => {
    for (const parts of [[], [thought('Hm')]])
      expect(faultOf(() => decode(answer(parts, { finishReason, finishMessage: 'It broke.' })))).toMatchObject({
        status: 502,
        message: `The model ended without an answer (${finishReason}): It broke.`,
      });
  });

  test('returns every candidate as a choice', () => {
    const two = {
      candidates: [
        { content: { parts: [text('a')] }, finishReason: 'STOP' },
        { content: { parts: [text('b')] }, finishReason: 'MAX_TOKENS', index: 1 },
      ],
    };
    expect(decode(two).body['choices']).toMatchObject([
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' }, finish_reason: 'length' },
    ]);
  });

  test('is measured by its text, thoughts, calls and images', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBO' } };
    const parts = [thought('Hm'), text('Yes'), { functionCall: { name: 'f', args: { a: 1 } } }, image];
    // An image counts as in the relayed dialect.
    expect(decode(answer(parts)).outputText).toBe(`HmYesf{"a":1}${' …'.repeat(256)}`);
  });

  test.each<[string, string, string]>([
    ['nothing', '', 'not JSON'],
    ['an HTML page', '<html></html>', 'not JSON'],
    ['a string', '"ok"', 'not an object'],
    ['an empty list', '[]', 'not an object'],
    ['an empty object', '{}', 'without candidates'],
    ['feedback without a block', '{"promptFeedback":{}}', 'without candidates'],
  ])('that is %s is a fault', (_, body, message) => {
    expect(faultOf(() => gemini.decodeReply(body, CONTEXT)).message).toContain(message);
  });

  test('may be an error with the matching status', () => {
    expect(faultOf(() => decode({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }))).toMatchObject({
      status: 503,
      message: 'Overloaded',
    });
  });
});

describe('tool calls', () => {
  const functionCall = { name: 'weather', args: { city: 'Zürich' } };

  test('end the answer, although Google does not report it, and carry their signature both ways', () => {
    const reply = decode(answer([{ functionCall, thoughtSignature: 'c2ln' }, { functionCall: { name: 'time' } }]));
    expect(choiceOf(reply)).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(choiceOf(reply)['message']).toHaveProperty('tool_calls', [
      {
        id: 'call_resp1_0',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Zürich"}' },
        extra_content: { google: { thought_signature: 'c2ln' } },
      },
      { id: 'call_resp1_1', type: 'function', function: { name: 'time', arguments: '{}' } },
    ]);
    expect(reply.carried).toEqual(new Map([['call_resp1_0', '{"model":"gemini-3.1-pro-preview","thoughtSignature":"c2ln"}']]));
  });

  test.each<[string, call: JsonObject, responseId: unknown, id: string]>([
    ['Google’s own', { ...functionCall, id: 'fc-1' }, 'resp1', 'fc-1'],
    ['derived from the answer if Google’s is empty', { ...functionCall, id: '' }, 'resp1', 'call_resp1_0'],
    ['derived from the request if the answer has none', functionCall, undefined, 'call_req_1_0'],
  ])('have an id: %s', (_, call, responseId, id) => {
    const reply = decode(answer([{ functionCall: call }], {}, { responseId }));
    expect(choiceOf(reply)['message']).toMatchObject({ tool_calls: [{ id }] });
  });

  test.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['OTHER', 'tool_calls'],
  ])('cut by %s end with %s', (finishReason, finish) => {
    expect(choiceOf(decode(answer([{ functionCall }], { finishReason })))['finish_reason']).toBe(finish);
  });

  test.each<[string, called: JsonObject, written: JsonObject]>([
    [
      'a function whose name Google does not accept',
      { name: '_2d_f86b4d30' },
      { type: 'function', function: { name: '2d', arguments: '{}' } },
    ],
    ['an undeclared function', { name: 'ghost' }, { type: 'function', function: { name: 'ghost', arguments: '{}' } }],
    ['a custom tool', { name: 'patch', args: { input: 'text' } }, { type: 'custom', custom: { name: 'patch', input: 'text' } }],
    [
      'a custom tool with other arguments',
      { name: 'patch', args: { a: 1 } },
      { type: 'custom', custom: { name: 'patch', input: '{"a":1}' } },
    ],
  ])('of %s have the caller’s name', (_, called, written) => {
    const tools = [
      { type: 'function', function: { name: '2d' } },
      { type: 'custom', custom: { name: 'patch' } },
    ];
    const reply = decode(answer([{ functionCall: called }]), { chat: { ...CHAT, tools } });
    expect(choiceOf(reply)['message']).toMatchObject({ tool_calls: [written] });
  });
});

describe('the usage', () => {
  test.each<[string, reported: JsonObject, usage: object]>([
    [
      'cached tokens as part of the prompt',
      { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 5 },
      { inputTokens: 40, cachedInputTokens: 60, outputTokens: 5 },
    ],
    [
      'thoughts in addition to the candidates',
      { promptTokenCount: 9, candidatesTokenCount: 29, thoughtsTokenCount: 282 },
      { inputTokens: 9, outputTokens: 311, reasoningTokens: 282 },
    ],
    ['tool input in addition to the prompt', { promptTokenCount: 9, toolUsePromptTokenCount: 100 }, { inputTokens: 109 }],
    ['only a prompt, as when it is blocked', { promptTokenCount: 9, totalTokenCount: 9 }, { inputTokens: 9 }],
    ['more cached tokens than prompt tokens', { promptTokenCount: 9, cachedContentTokenCount: 10 }, { inputTokens: 9 }],
  ])('counts %s', (_, usageMetadata, usage) => {
    const none = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
    expect(decode(answer([text('a')], {}, { usageMetadata })).usage).toEqual({ ...none, ...usage });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'many'],
    ['no prompt', { candidatesTokenCount: 5 }],
    ['a count below zero', { promptTokenCount: 9, candidatesTokenCount: -1, thoughtsTokenCount: 5 }],
    ['a fraction', { promptTokenCount: 9, thoughtsTokenCount: 0.5 }],
    ['an implausible count', { promptTokenCount: 1e300 }],
    ['implausible counts in total', { promptTokenCount: 2 ** 31, toolUsePromptTokenCount: 1 }],
    ['a count as text', { promptTokenCount: '9' }],
  ])('from %s is undefined', (_, usageMetadata) => {
    const reply = decode(answer([text('a')], {}, { usageMetadata }));
    expect(reply.usage).toBeUndefined();
    expect(reply.body).not.toHaveProperty('usage');
  });
});

describe('an answer that broke off', () => {
  const call = { functionCall: { name: 'f' } };
  const broken = decode(
    answer([text('One '), call], { finishReason: 'CONTINUATION', continuationToken: 'dG9r' }, { responseId: undefined }),
  );

  test('returns a continuation', () => {
    expect(broken.continuation).toBe('{"token":"dG9r","toolCalls":1,"textLength":4}');
    expect(choiceOf(broken)['finish_reason']).toBe('length');
  });

  test('at the caller’s own limit is complete, even with a token', () => {
    expect(decode(answer([text('One')], { finishReason: 'MAX_TOKENS', continuationToken: 'dG9r' })).continuation).toBeUndefined();
  });

  test('continues the numbering of its tool calls', () => {
    const rest = decode(answer([call], {}, { responseId: undefined }), { continuation: String(broken.continuation) });
    expect(choiceOf(rest)['message']).toMatchObject({ tool_calls: [{ id: 'call_req_1_1' }] });
    expect(rest.continuation).toBeUndefined();
  });

  test('after a tool call ends with tool_calls', () => {
    expect(choiceOf(decode(answer([text('two')]), { continuation: String(broken.continuation) }))['finish_reason']).toBe('tool_calls');
  });

  test('is not a fault if the rest fails', () => {
    const rest = decode(answer([], { finishReason: 'OTHER' }), { continuation: '{"token":"dG9r","toolCalls":0}' });
    expect(choiceOf(rest)['finish_reason']).toBe('stop');
  });
});
