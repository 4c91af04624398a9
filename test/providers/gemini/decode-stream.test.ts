import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/openai/types.ts';
import { gemini } from '../../../src/providers/gemini/gemini.ts';
import type { ReplyContext, StreamDecoder } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { CONTEXT } from './given.ts';

const ROLE = { role: 'assistant', content: '' };
const event = (parts: readonly JsonObject[], ending: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  candidates: [{ ...(parts.length === 0 ? {} : { content: { parts, role: 'model' } }), index: 0, ...ending }],
  responseId: 'resp1',
  ...more,
});
const say = (text: string, ending: JsonObject = {}): JsonObject => event([{ text }], ending);
const STOP = { finishReason: 'STOP' };
const toolCall = (index: number, name: string, args: string, more: object = {}): JsonObject => ({
  tool_calls: [{ index, id: `call_resp1_${index}`, type: 'function', function: { name, arguments: args }, ...more }],
});
const counts = (candidatesTokenCount: number): JsonObject => ({
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount, thoughtsTokenCount: 3 },
});

interface Run {
  readonly decoder: StreamDecoder;
  readonly chunks: readonly JsonObject[];
  /** What each chunk carries: its delta, or its finish reason. */
  readonly sent: readonly unknown[];
}

function run(events: readonly unknown[], context: Partial<ReplyContext> = {}): Run {
  const decoder = gemini.decodeStream({ ...CONTEXT, ...context });
  const chunks = events
    .flatMap((data) => decoder.push({ name: undefined, data: JSON.stringify(data) }))
    .map((chunk) => JSON.parse(chunk) as JsonObject);
  const sent = chunks.map((chunk) => {
    const [choice] = chunk['choices'] as JsonObject[];
    return choice?.['finish_reason'] ?? choice?.['delta'];
  });
  return { decoder, chunks, sent };
}

const asList = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

describe('a stream', () => {
  test('has the OpenAI envelope on every chunk', () => {
    const { chunks } = run([say('Hi')], { wantsUsage: true });
    const envelope = { id: 'chatcmpl-req_1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'gemini/x', usage: null };
    expect(chunks).toEqual([
      { ...envelope, choices: [{ index: 0, delta: ROLE, logprobs: null, finish_reason: null }] },
      { ...envelope, choices: [{ index: 0, delta: { content: 'Hi' }, logprobs: null, finish_reason: null }] },
    ]);
    expect(run([say('Hi')]).chunks[0]).not.toHaveProperty('usage');
  });

  const call = { functionCall: { name: 'weather', args: { city: 'Rome' } }, thoughtSignature: 'c2ln' };
  const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };

  test.each<[string, events: readonly unknown[], expected: readonly unknown[]]>([
    ['text', [say('Hel'), say('lo'), say('', STOP)], [ROLE, { content: 'Hel' }, { content: 'lo' }, 'stop']],
    ['a finish reason on the last text', [say('Hi', STOP)], [ROLE, { content: 'Hi' }, 'stop']],
    [
      'thoughts first',
      [event([{ text: 'Hm', thought: true }]), say('Yes', STOP)],
      [ROLE, { reasoning_content: 'Hm' }, { content: 'Yes' }, 'stop'],
    ],
    ['a tool call', [event([call]), say('', STOP)], [ROLE, toolCall(0, 'weather', '{"city":"Rome"}', signed), 'tool_calls']],
    [
      'tool calls in one event and in two, one without arguments',
      [event([call, { functionCall: { name: 'time' } }]), event([{ functionCall: { name: 'time' } }], STOP)],
      [ROLE, toolCall(0, 'weather', '{"city":"Rome"}', signed), toolCall(1, 'time', '{}'), toolCall(2, 'time', '{}'), 'tool_calls'],
    ],
    [
      'an image',
      [event([{ inlineData: { mimeType: 'image/png', data: 'iV' } }], STOP)],
      [ROLE, { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iV' } }] }, 'stop'],
    ],
    [
      'images in one list, because client helpers keep only one',
      [event([picture('iV')]), say('and'), event([picture('iW')]), event([], STOP)],
      [
        ROLE,
        { content: 'and' },
        { images: ['iV', 'iW'].map((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })) },
        'stop',
      ],
    ],
    ['the limit', [say('Hi'), event([], { finishReason: 'MAX_TOKENS' })], [ROLE, { content: 'Hi' }, 'length']],
    ['the limit before any text', [event([], { finishReason: 'MAX_TOKENS' })], [ROLE, 'length']],
    ['a filter', [say('Hi'), event([], { finishReason: 'SAFETY' })], [ROLE, { content: 'Hi' }, 'content_filter']],
    ['a blocked prompt', [{ promptFeedback: { blockReason: 'OTHER' } }], [ROLE, 'content_filter']],
    ['a failure after some text', [say('Hi'), event([], { finishReason: 'MALFORMED_FUNCTION_CALL' })], [ROLE, { content: 'Hi' }, 'stop']],
    ['a finish reason on every event', [say('Hel', STOP), say('lo', STOP)], [ROLE, { content: 'Hel' }, 'stop', { content: 'lo' }]],
    [
      'a changing finish reason',
      [say('Hm', STOP), event([call], STOP)],
      [ROLE, { content: 'Hm' }, 'stop', toolCall(0, 'weather', '{"city":"Rome"}', signed), 'tool_calls'],
    ],
    ['a break without a token', [say('One'), event([], { finishReason: 'CONTINUATION' })], [ROLE, { content: 'One' }, 'length']],
    ['unknown events', [{ odd: 1 }, say('Hi', STOP), { usageMetadata: { promptTokenCount: 1 } }], [ROLE, { content: 'Hi' }, 'stop']],
  ])('has %s', (_, events, expected) => {
    const { decoder, sent: actual } = run(events);
    expect(actual).toEqual(expected);
    expect(decoder).toMatchObject({ isComplete: true, hasOutput: true, isDone: false, continuation: undefined });
  });

  test('carries signatures by call id', () => {
    expect(run([event([call])]).decoder.carried).toEqual(
      new Map([['call_resp1_0', '{"model":"gemini-3.1-pro-preview","thoughtSignature":"c2ln"}']]),
    );
  });

  test('has output once the model has said something, and is complete once it has ended', () => {
    const decoder = gemini.decodeStream(CONTEXT);
    const state = (data: unknown): unknown[] => {
      decoder.push({ name: undefined, data: JSON.stringify(data) });
      return [decoder.hasOutput, decoder.isComplete, decoder.outputText.length];
    };
    expect(state({ usageMetadata: { promptTokenCount: 9 } })).toEqual([false, false, 0]);
    expect(state(say(''))).toEqual([false, false, 0]);
    expect(state(event([{ text: 'Hm', thought: true }]))).toEqual([true, false, 2]);
    expect(state(event([{ functionCall: { name: 'f' } }]))).toEqual([true, false, 5]);
    expect(state(say('', STOP))).toEqual([true, true, 5]);
  });

  test('keeps its candidates apart', () => {
    const events = [
      {
        candidates: [
          { content: { parts: [{ text: 'a' }] }, index: 0 },
          { content: { parts: [{ text: 'b' }] }, index: 1 },
        ],
      },
      { candidates: [{ finishReason: 'STOP', index: 1 }] },
    ];
    const { decoder, chunks } = run(events);
    expect(decoder.isComplete).toBe(false);
    expect(chunks.map((chunk) => (chunk['choices'] as JsonObject[])[0]?.['index'])).toEqual([0, 0, 1, 1, 1]);
    decoder.push({ name: undefined, data: JSON.stringify(say('', STOP)) });
    expect(decoder.isComplete).toBe(true);
  });

  test('uses the last counts, which are totals', () => {
    const { decoder } = run([event([{ text: 'a' }], {}, counts(1)), event([{ text: 'b' }], STOP, counts(4)), { candidates: [] }]);
    expect(decoder.usage).toMatchObject({ inputTokens: 9, outputTokens: 7, reasoningTokens: 3 });
    expect(decoder.wireUsage).toMatchObject({ total_tokens: 16, completion_tokens_details: { reasoning_tokens: 3 } });
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    expect(JSON.parse(decoder.usageChunk(usage))).toMatchObject({ id: 'chatcmpl-req_1', choices: [], usage });
  });

  test('has no usage if the last counts are implausible', () => {
    const { decoder } = run([
      event([], {}, { usageMetadata: { promptTokenCount: 9 } }),
      event([], {}, { usageMetadata: { promptTokenCount: -9 } }),
    ]);
    expect(decoder).toMatchObject({ usage: undefined, wireUsage: undefined });
  });

  test.each<[string, string, object]>([
    ['an error', '{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}', { status: 503, message: 'Overloaded' }],
    ['an error in a list', '[{"error":{"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}]', { status: 429 }],
    ['a failed model', '{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}', { status: 502 }],
    ['a truncated event', '{"candidates":[', { message: 'The provider sent something that is not JSON' }],
  ])('fails on %s', (_, data, fault) => {
    const decoder = gemini.decodeStream(CONTEXT);
    expect(faultOf(() => decoder.push({ name: undefined, data }))).toMatchObject(fault);
  });
});

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])('a stream that ends with %s after its thoughts fails', (finishReason) => {
  const events = [event([{ text: 'Hm', thought: true }]), event([], { finishReason })];
  expect(faultOf(() => run(events))).toMatchObject({ status: 502 });
});

describe('a stream that broke off', () => {
  const token = { finishReason: 'CONTINUATION', continuationToken: 'dG9r' };
  const first = run([say('One '), event([{ functionCall: { name: 'f' } }]), event([], token)]);

  test('has no finish reason, but returns a continuation', () => {
    expect(first.sent.slice(0, 2)).toEqual([ROLE, { content: 'One ' }]);
    expect(first.sent).toHaveLength(3);
    expect(first.decoder).toMatchObject({ isComplete: true, continuation: '{"token":"dG9r","toolCalls":1,"textLength":4}' });
  });

  test('continues without a second role, and continues the numbering of tool calls', () => {
    const rest = run([say('two'), event([{ functionCall: { name: 'g' } }], STOP)], { continuation: String(first.decoder.continuation) });
    expect(rest.sent).toEqual([
      { content: 'two' },
      { tool_calls: [{ index: 1, id: 'call_resp1_1', type: 'function', function: { name: 'g', arguments: '{}' } }] },
      'tool_calls',
    ]);
    expect(rest.decoder).toMatchObject({ continuation: undefined, outputText: expect.stringMatching(/^.{6}$/) });
  });

  test('ends with tool_calls if a call came before the break', () => {
    expect(run([say('two', STOP)], { continuation: String(first.decoder.continuation) }).sent.at(-1)).toBe('tool_calls');
  });

  test('cites pages at their positions in the whole answer, once', () => {
    const chunks = { groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }] } };
    const supports = { groundingMetadata: { groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [0] }] } };
    const rest = run([say('two', chunks), event([], supports), event([], { ...supports, ...STOP })], {
      continuation: String(first.decoder.continuation),
    });
    const page = { type: 'url_citation', url_citation: { start_index: 4, end_index: 7, url: 'https://a.example', title: 'A' } };
    expect(rest.sent).toEqual([{ content: 'two' }, { annotations: [page] }, 'tool_calls']);
  });

  test('sends the citations from before the break with its end', () => {
    const supports = { groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [0] }] };
    const broken = run([say('One', cited('https://a.example', supports)), event([], token)]);
    expect(broken.sent).toEqual([ROLE, { content: 'One' }]);
    const rest = run([say('two', { ...cited('https://b.example'), ...STOP })], { continuation: String(broken.decoder.continuation) });
    expect(rest.sent.slice(1)).toEqual([{ annotations: [citation('https://a.example', 0), citation('https://b.example', 3)] }, 'stop']);
    const given = run([], { continuation: String(broken.decoder.continuation) }).decoder.cut();
    expect(given.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { choices: [{ delta: { annotations: [citation('https://a.example', 0)] } }] },
      { choices: [{ finish_reason: 'length' }] },
    ]);
  });

  test('may break off again', () => {
    const rest = run([say('two', { ...token, continuationToken: 'bW9y' })], { continuation: '{"token":"dG9r","toolCalls":0}' });
    expect(rest.decoder.continuation).toBe('{"token":"bW9y","toolCalls":0,"textLength":3}');
  });
});

test('a stream equals the complete answer, however it is split', () => {
  const part = fc.oneof(
    fc.record({ text: fc.string(), thought: fc.boolean() }),
    fc.record({ functionCall: fc.record({ name: fc.constantFrom('f', 'g'), args: fc.dictionary(fc.string(), fc.integer()) }) }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 3 }), { maxLength: 5 }), (cuts) => {
      const { decoder, chunks, sent } = run([...cuts.map((parts) => event(parts)), event([], STOP)]);
      const whole = gemini.decodeReply(JSON.stringify(event(cuts.flat(), STOP)), CONTEXT);
      const deltas = chunks.flatMap((chunk) => chunk['choices'] as { delta: JsonObject }[]).map(({ delta }) => delta);
      const [choice] = whole.body['choices'] as { message: JsonObject; finish_reason: string }[];
      const join = (name: string): string => deltas.map((delta) => asText(delta[name])).join('');
      expect(join('content')).toBe(asText(choice?.message['content']));
      expect(join('reasoning_content')).toBe(asText(choice?.message['reasoning_content']));
      const calls = deltas.flatMap((delta) => asList(delta['tool_calls']));
      expect(calls).toEqual(asList(choice?.message['tool_calls']).map((call, index) => ({ index, ...call })));
      expect(sent.at(-1)).toBe(choice?.finish_reason);
      expect(decoder.outputText).toBe(whole.outputText);
    }),
    { numRuns: 200 },
  );
});

function picture(data: string): JsonObject {
  return { inlineData: { mimeType: 'image/png', data } };
}

function cited(uri: string, more: JsonObject = {}): JsonObject {
  return { groundingMetadata: { groundingChunks: [{ web: { uri, title: '' } }], ...more } };
}

function citation(url: string, start: number): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: start + 3, url, title: '' } };
}
