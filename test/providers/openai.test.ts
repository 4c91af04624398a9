import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';
import type { ProviderFault, StreamDecoder, Target } from '../../src/providers/dialect.ts';
import { faultOf } from './fault-of.ts';

const CHAT: ChatRequest = { model: 'mock/gpt', messages: [{ role: 'user', content: 'Hi' }] };
const TARGET: Target = { baseUrl: 'http://127.0.0.1:9100/v1', apiKey: 'sk-1', model: 'gpt-x', outputTokensMax: undefined };
const CONTEXT = { modelId: 'mock/gpt', wantsUsage: true, chat: { model: 'mock/gpt', messages: [] }, requestId: 'req_1', createdSeconds: 1 };
const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function encode(chat: Partial<ChatRequest>, target: Partial<Target> = {}): JsonObject {
  return JSON.parse(openai.encodeRequest({ ...CHAT, ...chat }, { ...TARGET, ...target }).body) as JsonObject;
}

describe('an encoded request', () => {
  test('goes to the host’s address with its key', () => {
    const request = openai.encodeRequest(CHAT, TARGET);
    expect(request.url).toBe('http://127.0.0.1:9100/v1/chat/completions');
    expect(request.headers).toEqual({ 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer sk-1' });
  });

  test('has no credentials if the host needs none', () => {
    expect(openai.encodeRequest(CHAT, { ...TARGET, apiKey: undefined }).headers).not.toHaveProperty('authorization');
  });

  test('uses the host’s model name and keeps everything else, including unknown fields', () => {
    const chat = {
      temperature: 0,
      seed: 7,
      tools: [],
      top_k: 40,
      provider: { order: ['a'] },
      'x-odd': [null, { a: '☕' }],
      metadata: { a: 'b' },
    };
    expect(encode(chat)).toEqual({ ...CHAT, ...chat, model: 'gpt-x' });
  });

  test('leaves the caller’s request unmodified', () => {
    const chat = Object.freeze({ ...CHAT, stream: true, stream_options: Object.freeze({ include_usage: false }) });
    openai.encodeRequest(chat, { ...TARGET, outputTokensMax: 5 });
    expect(chat).toEqual({ ...CHAT, stream: true, stream_options: { include_usage: false } });
  });

  test.each<[Partial<ChatRequest>, unknown]>([
    [{ stream: true }, { include_usage: true }],
    [{ stream: true, stream_options: {} }, { include_usage: true }],
    [{ stream: true, stream_options: { include_usage: false } }, { include_usage: true }],
    [
      { stream: true, stream_options: { include_obfuscation: false, more: 1 } },
      { include_obfuscation: false, more: 1, include_usage: true },
    ],
    [{ stream: false }, undefined],
    [{}, undefined],
  ])('always requests usage for a stream: %j', (chat, options) => {
    expect(encode(chat)['stream_options']).toEqual(options);
    const { accept } = openai.encodeRequest({ ...CHAT, ...chat }, TARGET).headers;
    expect(accept).toBe(chat.stream === true ? 'text/event-stream' : 'application/json');
  });

  test.each(Object.entries(HOSTS))('sends %s the output limit in the field it understands', (id, { baseUrl }) => {
    const field = id === 'openai' ? 'max_completion_tokens' : 'max_tokens';
    expect(encode({}, { baseUrl, outputTokensMax: 9 })).toEqual({ ...CHAT, model: 'gpt-x', [field]: 9 });
  });

  test('has no unrequested limit, and keeps the caller’s', () => {
    expect(encode({})).toEqual({ ...CHAT, model: 'gpt-x' });
    expect(encode({ max_tokens: 5 })).toEqual({ ...CHAT, model: 'gpt-x', max_tokens: 5 });
  });
});

const answer = (changes: object = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x-2026-08-01',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage: USAGE,
  ...changes,
});

describe('a complete answer', () => {
  test('passes with our model id and all unknown fields', () => {
    const reply = openai.decodeReply(JSON.stringify(answer({ citations: ['a'], x_groq: { id: 'b' } })), CONTEXT);
    expect(reply.body).toEqual({ ...answer(), citations: ['a'], x_groq: { id: 'b' }, model: 'mock/gpt' });
    expect(reply.usage).toEqual({ inputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 0 });
    expect(reply.outputText).toBe('Hello');
  });

  test('may start with the blank lines DeepSeek sends while waiting', () => {
    expect(openai.decodeReply(`\n\n\n${JSON.stringify(answer())}`, CONTEXT).outputText).toBe('Hello');
  });

  test.each<[string, object, string]>([
    ['text', { content: 'Hello' }, 'Hello'],
    ['a refusal', { content: null, refusal: 'No.' }, 'No.'],
    ['reasoning in two fields', { content: 'a', reasoning_content: 'bc', reasoning: 'def' }, 'abcdef'],
    ['no text at all', { content: null }, ''],
  ])('is measured by its output: %s', (_, message, text) => {
    const choices = [
      { index: 0, message, finish_reason: 'stop' },
      { index: 1, message, finish_reason: 'stop' },
    ];
    expect(openai.decodeReply(JSON.stringify(answer({ choices })), CONTEXT).outputText).toBe(text + text);
  });

  test('without output and finish reason is a fault', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: null }];
    expect(() => openai.decodeReply(JSON.stringify(answer({ choices })), CONTEXT)).toThrow('sent an empty answer');
  });

  test('counts a tool call as output', () => {
    const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } }];
    const choices = [{ index: 0, message: { role: 'assistant', content: null, tool_calls: toolCalls } }];
    expect(openai.decodeReply(JSON.stringify(answer({ choices })), CONTEXT).outputText).toBe('weather{"city":"Zürich"}');
  });

  test.each([null, undefined, {}, { prompt_tokens: -1, completion_tokens: 1 }, 'many'])('with invalid usage %j reports none', (usage) => {
    expect(openai.decodeReply(JSON.stringify(answer({ usage })), CONTEXT).usage).toBeUndefined();
  });

  test.each<[string, string, Partial<ProviderFault>]>([
    ['nothing', '', {}],
    ['an HTML page', '<!doctype html><title>Bad gateway</title>', {}],
    ['a truncated answer', JSON.stringify(answer()).slice(0, -20), {}],
    ['a list', '[]', {}],
    ['a string', '"ok"', {}],
    ['null', 'null', {}],
    ['an object without choices', '{}', {}],
    ['an empty list of choices', JSON.stringify(answer({ choices: [] })), {}],
    ['choices that are not a list', JSON.stringify(answer({ choices: { 0: {} } })), {}],
    [
      'an error',
      '{"error":{"message":"Overloaded","code":"busy","param":"model"}}',
      { message: 'Overloaded', code: 'busy', param: 'model' },
    ],
    ['an error with a number as the code', '{"error":{"code":502,"message":"Down"},"user_id":"u"}', { message: 'Down', status: 502 }],
    ['an error as text', '{"code":"busy","error":"Too many"}', { message: 'Too many', code: 'busy' }],
    ['an error that is not wrapped', '{"object":"error","message":"Down","code":503}', { message: 'Down', status: 503 }],
    ['an error next to choices', JSON.stringify(answer({ error: { message: 'Cut off' } })), { message: 'Cut off' }],
  ])('that is %s is a fault', (_, text, fault) => {
    expect(faultOf(() => openai.decodeReply(text, CONTEXT))).toMatchObject(fault);
  });
});

const chunk = (choices: readonly object[], more: object = {}): string =>
  JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices, ...more });
const delta = (content: string, finish: string | null = null): object => ({ index: 0, delta: { content }, finish_reason: finish });
const push = (decoder: StreamDecoder, ...events: readonly string[]): JsonObject[] =>
  events.flatMap((data) => decoder.push({ name: undefined, data }).map((text) => JSON.parse(text) as JsonObject));

describe('a stream', () => {
  test.each<[string, string]>([
    ['in its own chunk', chunk([], { usage: USAGE })],
    ['on a chunk with choices', chunk([delta('', 'stop')], { usage: USAGE })],
    ['in Groq’s field', chunk([delta('', 'stop')], { x_groq: { id: 'a', usage: USAGE } })],
  ])('reads usage %s, and hides it from the caller there', (_, data) => {
    const decoder = openai.decodeStream(CONTEXT);
    const chunks = push(decoder, chunk([delta('Hi')]), data);
    expect(decoder.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(decoder.wireUsage).toEqual(USAGE);
    expect(chunks.map((sent) => sent['usage'])).toEqual(chunks.map(() => null));
    expect(JSON.parse(decoder.usageChunk(USAGE))).toMatchObject({ id: 'chatcmpl-1', model: 'mock/gpt', choices: [], usage: USAGE });
  });

  test.each([null, {}, undefined])('keeps its usage when %j follows', (usage) => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([delta('a', 'stop')], { usage: USAGE }), chunk([], { usage }));
    expect(decoder.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('uses the last usage when it grows from chunk to chunk', () => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([delta('a')], { usage: { ...USAGE, completion_tokens: 1 } }), chunk([delta('b', 'stop')], { usage: USAGE }));
    expect(decoder.usage?.outputTokens).toBe(4);
  });

  test('discards usage that a later report contradicts', () => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([delta('a', 'stop')], { usage: USAGE }), chunk([], { usage: { prompt_tokens: -1, completion_tokens: 1 } }));
    expect(decoder).toMatchObject({ usage: undefined, wireUsage: undefined });
  });

  test('hides chunks without choices, because clients that read the first choice would fail', () => {
    const decoder = openai.decodeStream(CONTEXT);
    expect(push(decoder, chunk([], { prompt_filter_results: [] }), '{"id":"chatcmpl-1"}', '{"choices":null}')).toEqual([]);
    expect(decoder).toMatchObject({ hasOutput: false, isComplete: false, isDone: false });
  });

  test('has output only after the model has said something', () => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]));
    expect(decoder.hasOutput).toBe(false);
    push(decoder, chunk([{ index: 0, delta: { reasoning_content: 'Hm' }, finish_reason: null }]));
    expect(decoder).toMatchObject({ hasOutput: true, isComplete: false, outputText: 'Hm' });
  });

  test('that is done gets missing finish reasons', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const sent = push(decoder, chunk([delta('a')]), '[DONE]');
    expect(sent.at(-1)).toMatchObject({ id: 'chatcmpl-1', model: 'mock/gpt', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    expect(decoder).toMatchObject({ isDone: true, isComplete: true });
  });

  test('that is done without output has failed and gets no finish reason', () => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]));
    expect(push(decoder, '[DONE]')).toEqual([]);
    expect(decoder).toMatchObject({ isDone: true, isComplete: false });
  });

  test('continues after empty events', () => {
    const decoder = openai.decodeStream(CONTEXT);
    expect(push(decoder, '', chunk([delta('a')]), ' ', chunk([delta('b')]), '')).toHaveLength(2);
    expect(push(decoder, chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), '')).toHaveLength(1);
    expect(decoder).toMatchObject({ outputText: 'ab', isComplete: true });
  });

  test('without a finish reason after tool calls gets tool_calls at its end', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const sent = push(decoder, chunk([{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }]), '[DONE]');
    expect(sent.at(-1)).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
  });

  test('without a finish reason after a tool call without arguments gets both', () => {
    const decoder = openai.decodeStream({ ...CONTEXT, choiceIndex: 3 });
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } };
    const sent = push(decoder, chunk([{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }]), '[DONE]');
    expect(sent.slice(1)).toMatchObject([
      { choices: [{ index: 3, delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, finish_reason: null }] },
      { choices: [{ index: 3, delta: {}, finish_reason: 'tool_calls' }] },
    ]);
  });

  test.each<[string, { name?: string; data: string }, Partial<ProviderFault>]>([
    ['an error', { data: '{"error":{"message":"Overloaded","code":529}}' }, { message: 'Overloaded', status: 529 }],
    ['an error as text', { data: '{"error":"Too many","code":"busy"}' }, { message: 'Too many', code: 'busy' }],
    ['an error in Groq’s field', { data: chunk([], { x_groq: { id: 'a', error: 'Over capacity' } }) }, { message: 'Over capacity' }],
    [
      'an error that is not wrapped',
      { data: '{"object":"error","message":"Out of memory","type":"InternalServerError","param":null,"code":500}' },
      { message: 'Out of memory', status: 500 },
    ],
    ['an event named error', { name: 'error', data: '{"message":"Overloaded"}' }, { message: 'Overloaded' }],
    ['an event named error with an error inside', { name: 'error', data: '{"error":{"message":"Down"}}' }, { message: 'Down' }],
    ['something that is not JSON', { data: '<html>' }, {}],
    ['JSON that is not an object', { data: '[]' }, {}],
    ['truncated JSON', { data: '{"choices":' }, {}],
  ])('with %s is a fault', (_, event, fault) => {
    const decoder = openai.decodeStream(CONTEXT);
    push(decoder, chunk([delta('Half of')]));
    expect(faultOf(() => decoder.push({ name: event.name, data: event.data }))).toMatchObject(fault);
  });
});
