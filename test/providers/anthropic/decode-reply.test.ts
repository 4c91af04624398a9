import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import { ProviderFault } from '../../../src/providers/dialect.ts';
import { CONTEXT, message, readStream, readWhole, text, thinking, toolUse, WIRE_USAGE, type Message } from './decoding.ts';

const DOCUMENT_CITATIONS = [
  { type: 'char_location', cited_text: 'b' },
  { type: 'search_result_location', source: 'shelf 7', title: 'b' },
];
const citation = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'a' };

const ROWS: [string, Message, JsonObject, string][] = [
  ['text', message([text('Hel'), text('lo')]), { content: 'Hello' }, 'stop'],
  ['no content', message([]), { content: '' }, 'stop'],
  ['a stop sequence', message([text('a')], { stop_reason: 'stop_sequence', stop_sequence: 'b' }), { content: 'a' }, 'stop'],
  ['the output limit', message([text('a')], { stop_reason: 'max_tokens' }), { content: 'a' }, 'length'],
  ['the end of the context window', message([text('a')], { stop_reason: 'model_context_window_exceeded' }), { content: 'a' }, 'length'],
  ['an unknown stop reason', message([text('a')], { stop_reason: 'tired' }), { content: 'a' }, 'stop'],
  [
    'thinking',
    message([thinking, { type: 'redacted_thinking', data: 'x' }, text('a')]),
    { content: 'a', reasoning_content: 'Hm.' },
    'stop',
  ],
  ['thinking without text', message([{ ...thinking, thinking: '' }, text('a')]), { content: 'a' }, 'stop'],
  [
    'tool calls, numbered without the other blocks',
    message([thinking, text('a'), toolUse('t1', 'the_weather_137a8fce', { city: 'Zürich' }), toolUse('t2', 'the_weather_137a8fce', {})], {
      stop_reason: 'tool_use',
    }),
    {
      content: 'a',
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 't1', type: 'function', function: { name: 'the.weather', arguments: '{"city":"Zürich"}' } },
        { id: 't2', type: 'function', function: { name: 'the.weather', arguments: '{}' } },
      ],
    },
    'tool_calls',
  ],
  [
    'tool calls with an unknown stop reason',
    message([toolUse('t1', 'x', {})], { stop_reason: 'tired' }),
    { content: null, tool_calls: [{ id: 't1', type: 'function', function: { name: 'x', arguments: '{}' } }] },
    'tool_calls',
  ],
  [
    'a call with free text',
    message([toolUse('t1', 'say', { input: 'hi' })], { stop_reason: 'tool_use' }),
    { content: null, tool_calls: [{ id: 't1', type: 'custom', custom: { name: 'say', input: 'hi' } }] },
    'tool_calls',
  ],
  [
    'a malformed free-text call',
    message([toolUse('t1', 'say', { output: 1 })], { stop_reason: 'tool_use' }),
    { content: null, tool_calls: [{ id: 't1', type: 'custom', custom: { name: 'say', input: '{"output":1}' } }] },
    'tool_calls',
  ],
  [
    'an answer through the gateway’s own tool',
    message([toolUse('t1', 'answer_in_json', { a: 1 })], { stop_reason: 'tool_use' }),
    { content: '{"a":1}' },
    'stop',
  ],
  [
    'a refusal',
    message([], { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not that.' } }),
    { content: null, refusal: 'Not that.' },
    'content_filter',
  ],
  [
    'a refusal without an explanation',
    message([text('a')], { stop_reason: 'refusal', stop_details: null }),
    { content: 'a' },
    'content_filter',
  ],
  [
    'a search with its sources',
    message([
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'a' } },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
      text('So: '),
      { ...text('sun'), citations: [citation, ...DOCUMENT_CITATIONS, { ...citation, title: null }] },
    ]),
    {
      content: 'So: sun',
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 4, end_index: 7, url: 'https://a.example', title: 'A' } },
        { type: 'url_citation', url_citation: { start_index: 4, end_index: 7, url: 'https://a.example', title: '' } },
      ],
    },
    'stop',
  ],
  [
    'a citation of the caller’s own search result',
    message([{ ...text('sun'), citations: [{ type: 'search_result_location', source: 'https://b.example', title: 'B' }] }]),
    {
      content: 'sun',
      annotations: [{ type: 'url_citation', url_citation: { start_index: 0, end_index: 3, url: 'https://b.example', title: 'B' } }],
    },
    'stop',
  ],
];

describe('an answer', () => {
  test.each(ROWS)('complete: %s', (_, value, expected, finish) => {
    const seen = readWhole(value);
    expect(seen.message).toEqual({ role: 'assistant', refusal: null, ...expected });
    expect(seen.finish).toBe(finish);
  });

  test.each(ROWS)('streamed: %s', (_, value, expected, finish) => {
    const seen = readStream(value);
    expect(seen.message).toEqual({ role: 'assistant', refusal: null, ...expected });
    expect(seen.finish).toBe(finish);
    expect(seen.decoded.outputText.length).toBe(readWhole(value).decoded.outputText.length);
  });

  test('has the gateway’s own envelope', () => {
    const { body } = anthropic.decodeReply(JSON.stringify(message([text('a')])), CONTEXT);
    expect(body).toMatchObject({
      id: 'chatcmpl-req_1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'anthropic/claude',
      usage: WIRE_USAGE,
    });
  });

  test('is the same complete and streamed', () => {
    const block = fc.oneof(
      fc.string({ minLength: 1 }).map(text),
      fc.string({ minLength: 1 }).map((value) => ({ ...thinking, thinking: value })),
      fc
        .record({
          id: fc.uuid(),
          name: fc.constantFrom('the_weather_137a8fce', 'say', 'other', 'answer_in_json'),
          input: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
        })
        .map(({ id, name, input }) => toolUse(id, name, JSON.parse(JSON.stringify(input)) as JsonObject)),
      fc.constant({ type: 'redacted_thinking', data: 'x' }),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), fc.constantFrom('end_turn', 'tool_use', 'max_tokens'), (content, stop_reason) => {
        const value = message(content, { stop_reason });
        const [whole, streamed] = [readWhole(value), readStream(value)];
        expect(streamed.message).toEqual(whole.message);
        expect(streamed.finish).toEqual(whole.finish);
        expect(streamed.decoded.carried).toEqual(whole.decoded.carried as ReadonlyMap<string, string>);
        expect(streamed.decoded.usage).toEqual(whole.decoded.usage);
      }),
    );
  });

  test.each<[string, string, Partial<ProviderFault>]>([
    ['nothing', '', {}],
    ['an HTML page', '<html>', {}],
    ['a list', '[]', {}],
    ['no content', '{"type":"message"}', {}],
    ['an error', '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', { status: 529, message: 'Overloaded' }],
  ])('that is not one is a fault: %s', (_, body, fault) => {
    expect(() => anthropic.decodeReply(body, CONTEXT)).toThrow(ProviderFault);
    expect(() => anthropic.decodeReply(body, CONTEXT)).toThrow(expect.objectContaining(fault));
  });
});
