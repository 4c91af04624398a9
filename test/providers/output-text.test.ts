import { describe, expect, test } from 'bun:test';
import { openai } from '../../src/providers/openai.ts';
import { OutputText } from '../../src/providers/output-text.ts';

const CONTEXT = {
  modelId: 'ours/model',
  wantsUsage: false,
  chat: { model: 'ours/model', messages: [] },
  requestId: 'req_1',
  createdSeconds: 7,
};

const event = (content: string) => ({
  name: undefined,
  data: JSON.stringify({
    id: 'a',
    created: 1,
    model: 'b',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
  }),
});

describe('what a stream has said', () => {
  test.each([0, 1, 15, 16, 17, 100])('is all there after %i pieces', (count) => {
    const said = new OutputText();
    const pieces = Array.from({ length: count }, (_, index) => `piece ${index}, `);
    for (const piece of pieces) said.add(piece);
    said.add('');
    expect(said.read()).toBe(pieces.join(''));
    expect(said.length).toBe(pieces.join('').length);
  });

  test('is measured but not kept beyond a bound', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const piece = 'x'.repeat(10_000);
    for (let count = 0; count < 20; count += 1) decoder.push(event(piece));
    expect(decoder.outputLength).toBe(200_000);
    expect(decoder.outputText).toBe('x'.repeat(65_536));
  });

  test('is never empty where something was said, be it in one piece', () => {
    const decoder = openai.decodeStream(CONTEXT);
    decoder.push(event('y'.repeat(100_000)));
    expect([decoder.outputLength, decoder.outputText.length]).toEqual([100_000, 65_536]);
  });
});

test('a chunk of one answer among several has the index and the identity of the whole', () => {
  const decoder = openai.decodeStream({ ...CONTEXT, choiceIndex: 2 });
  const [written = ''] = decoder.push(event('Hi'));
  expect(JSON.parse(written)).toMatchObject({ id: 'chatcmpl-req_1', created: 7, choices: [{ index: 2, delta: { content: 'Hi' } }] });
});
