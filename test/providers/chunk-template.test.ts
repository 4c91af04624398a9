import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkTemplate } from '../../src/providers/chunk-template.ts';
import { openai } from '../../src/providers/openai.ts';

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

function relay(deltas: readonly object[]): void {
  const decoder = openai.decodeStream(CONTEXT);
  decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ role: 'assistant', content: '' })) });
  let said = '';
  for (const delta of deltas) {
    const came = chunkOf(delta);
    const [written = ''] = decoder.push({ name: undefined, data: JSON.stringify(came) });
    // The role was told with the first chunk.
    const told = Object.entries(delta).filter(([name]) => name !== 'role');
    expect(JSON.parse(written)).toEqual({ ...chunkOf(Object.fromEntries(told)), model: 'ours/model' });
    said += told.map(([, text]) => text as string).join('');
    expect(decoder.outputText).toBe(said);
  }
}

describe('a stream of chunks that are alike', () => {
  test('comes out as if every chunk had been parsed and written again', () => {
    fc.assert(fc.property(fc.array(anyDelta, { maxLength: 20 }), relay), { numRuns: 500 });
  });

  test('still ends with the chunk that ends it', () => {
    const decoder = openai.decodeStream(CONTEXT);
    for (const content of ['a', 'b', 'c']) decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ content })) });
    expect(decoder.isComplete).toBe(false);
    decoder.push({ name: undefined, data: JSON.stringify(chunkOf({ content: 'd' }, { finish_reason: 'stop' })) });
    expect(decoder.isComplete).toBe(true);
    expect(decoder.outputText).toBe('abcd');
  });
});

describe('a template', () => {
  const data = JSON.stringify(chunkOf({ content: 'Hi' }));

  test('is not made where its hole could be in two places', () => {
    expect(ChunkTemplate.from(`${data}"content":"Hi"`, data, 'Hi')).toBeUndefined();
    expect(ChunkTemplate.from(data, `${data}"content":"Hi"`, 'Hi')).toBeUndefined();
    expect(ChunkTemplate.from(JSON.stringify(chunkOf({ content: '' })), data, '')).toBeUndefined();
    expect(ChunkTemplate.from(data.replace('"content":"Hi"', '"content": "Hi"'), data, 'Hi')).toBeUndefined();
  });

  test.each(['say "no"', String.raw`a\nb`, 'a\tb'])('does not take a text that must be read more closely: %s', (text) => {
    const template = ChunkTemplate.from(data, data, 'Hi');
    expect(template?.match(data.replace('Hi', text))).toBeUndefined();
    expect(template?.match(data.replace('Hi', 'there'))).toBe('there');
    expect(template?.match(data.slice(0, 40))).toBeUndefined();
  });
});
