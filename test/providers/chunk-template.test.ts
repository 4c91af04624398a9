import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkTemplate } from '../../src/providers/chunk-template.ts';
import { openai } from '../../src/providers/openai.ts';
import type { StreamDecoder } from '../../src/providers/provider.ts';

const CONTEXT = {
  modelId: 'ours/model',
  wantsUsage: false,
  chat: { model: 'ours/model', messages: [] },
  requestId: 'req_1',
  createdSeconds: 1,
};

const chunkOf = (delta: object, rest: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'theirs',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }],
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\n', '","finish_reason":"stop"', '"content":"a"', '{"model":"x"}', ' the', 'é', '\u2028', ''),
);
const anyDelta = fc.oneof(
  { weight: 6, arbitrary: fc.record({ content: anyText }) },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('assistant'), content: anyText }) },
  { weight: 1, arbitrary: fc.record({ reasoning_content: anyText }) },
);

/** Returns the chunk sent to the caller, whether it was parsed or matched by a template. */
function pushOrTake(decoder: StreamDecoder, data: string): string {
  const bytes = Buffer.from(`data: ${data}\n\n`);
  const tokens = decoder.takeTokens?.(bytes, 0, bytes.length);
  if (tokens === undefined) return decoder.push({ name: undefined, data })[0] ?? '';
  expect(tokens.end).toBe(bytes.length);
  return tokens.text.slice('data: '.length, -2);
}

function relay(deltas: readonly object[]): void {
  const decoder = openai.decodeStream(CONTEXT);
  decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ role: 'assistant', content: '' })) });
  let said = '';
  for (const delta of deltas) {
    const received = chunkOf(delta);
    const written = pushOrTake(decoder, JSON.stringify(received));
    // The role is sent with the first chunk.
    const sent = Object.entries(delta).filter(([name]) => name !== 'role');
    expect(JSON.parse(written)).toEqual({ ...chunkOf(Object.fromEntries(sent)), model: 'ours/model' });
    said += sent.map(([, text]) => text as string).join('');
    expect(decoder.outputText).toBe(said);
  }
}

describe('a stream of similar chunks', () => {
  test('equals a stream in which every chunk was parsed and rewritten', () => {
    fc.assert(fc.property(fc.array(anyDelta, { maxLength: 20 }), relay), { numRuns: 500 });
  });

  test('still ends with its final chunk', () => {
    const decoder = openai.decodeStream(CONTEXT);
    for (const content of ['a', 'b', 'c']) decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ content })) });
    expect(decoder.isComplete).toBe(false);
    decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ content: 'd' }, { finish_reason: 'stop' })) });
    expect(decoder.isComplete).toBe(true);
    expect(decoder.outputText).toBe('abcd');
  });
});

describe('a chunk template', () => {
  const data = JSON.stringify(chunkOf({ content: 'Hi' }));

  test('is not made if the position of the text is ambiguous', () => {
    expect(ChunkTemplate.from(`${data}"content":"Hi"`, data, 'Hi')).toBeUndefined();
    expect(ChunkTemplate.from(data, `${data}"content":"Hi"`, 'Hi')).toBeUndefined();
    expect(ChunkTemplate.from(JSON.stringify(chunkOf({ content: '' })), data, '')).toBeUndefined();
    expect(ChunkTemplate.from(data.replace('"content":"Hi"', '"content": "Hi"'), data, 'Hi')).toBeUndefined();
  });

  const match = (text: string, end = text.length) => ChunkTemplate.from(data, data, 'Hi')?.match(Buffer.from(text), 0, end);
  const eventOf = (text: string) => `data: ${data.replace('Hi', text)}\n\n`;

  test('returns the text of an event and where it ends', () => {
    const event = eventOf('there');
    expect(match(event)).toEqual({ text: 'there', end: event.length });
    expect(match(`${event}data: `)).toEqual({ text: 'there', end: event.length });
    expect(match(eventOf(''))).toEqual({ text: '', end: event.length - 'there'.length });
  });

  test.each(['say "no"', String.raw`a\nb`, 'a\tb', 'a\nb'])('does not match text that needs parsing: %s', (text) => {
    expect(match(eventOf(text))).toBeUndefined();
  });

  test('does not match an incomplete event', () => {
    const event = eventOf('there');
    for (let end = 0; end < event.length; end += 1) expect(match(event, end)).toBeUndefined();
    for (let end = 0; end < event.length; end += 1) expect(match(event.slice(0, end))).toBeUndefined();
  });

  test.each([
    ['without a blank after the colon', (event: string) => event.replace('data: ', 'data:')],
    ['with other line ends', (event: string) => event.replace('\n\n', '\r\n\r\n')],
    ['of a different chunk', (event: string) => event.replace('chatcmpl-1', 'chatcmpl-2')],
    ['that ends the choice', (event: string) => event.replace('"finish_reason":null', '"finish_reason":"a"')],
  ])('does not match an event %s', (_, change) => {
    expect(match(change(eventOf('there')))).toBeUndefined();
  });
});
