import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { SseEvent } from '../../src/http/sse.ts';
import { openai } from '../../src/providers/openai.ts';
import { OutputText } from '../../src/providers/output-text.ts';

const CONTEXT = {
  modelId: 'ours/model',
  wantsUsage: false,
  chat: { model: 'ours/model', messages: [] },
  requestId: 'req_1',
  createdSeconds: 7,
};

const event = (content: string) => chunk({ role: 'assistant', content });

function chunk(delta: object): SseEvent {
  const choices = [{ index: 0, delta, finish_reason: null }];
  return { name: undefined, data: JSON.stringify({ id: 'a', created: 1, model: 'b', choices }) };
}

describe('the output of a stream', () => {
  test.each([0, 1, 15, 16, 17, 100])('is complete after %i pieces', (count) => {
    const said = new OutputText();
    const pieces = Array.from({ length: count }, (_, index) => `piece ${index}, `);
    for (const piece of pieces) said.add(piece);
    said.add('');
    expect(said.read()).toBe(pieces.join(''));
    expect(said.length).toBe(pieces.join('').length);
  });

  const anyPieces = fc.array(
    fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.nat({ max: 9000 }).map((count) => 'x'.repeat(count)),
    ),
  );

  test('is the same whether its pieces are strings or bytes', () => {
    fc.assert(
      fc.property(anyPieces, fc.array(fc.boolean()), (pieces, reads) => {
        const [strings, bytes] = [new OutputText(), new OutputText()];
        for (const [position, piece] of pieces.entries()) {
          strings.add(piece);
          addAsBytes(bytes, piece);
          if (reads[position] === true) expect(bytes.read()).toBe(strings.read());
        }
        expect(bytes.read()).toBe(pieces.join('').slice(0, 65_536));
        expect([bytes.length, bytes.read()]).toEqual([strings.length, strings.read()]);
      }),
      { numRuns: 300 },
    );
  });

  test('is kept up to the limit, exactly, when it arrives as bytes', () => {
    const said = new OutputText();
    for (let count = 0; count < 7; count += 1) said.addAscii(Buffer.from('0123456789'.repeat(1000)), 0, 10_000);
    said.add('é');
    expect([said.length, said.read()]).toEqual([70_001, '0123456789'.repeat(6554).slice(0, 65_536)]);
  });

  test('is measured but not kept beyond a limit', () => {
    const decoder = openai.decodeStream(CONTEXT);
    const piece = 'x'.repeat(10_000);
    for (let count = 0; count < 20; count += 1) decoder.push(event(piece));
    expect(decoder.outputLength).toBe(200_000);
    expect(decoder.outputText).toBe('x'.repeat(65_536));
  });

  test('is kept up to the limit when it arrives in one piece', () => {
    const decoder = openai.decodeStream(CONTEXT);
    decoder.push(event('y'.repeat(100_000)));
    expect([decoder.outputLength, decoder.outputText.length]).toEqual([100_000, 65_536]);
  });
});

describe('a tool call counts as its name and its input, without the JSON around them:', () => {
  test.each<[string, readonly object[], string]>([
    [
      'a function',
      [
        { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'save', arguments: '' } }] },
        ...['{"text":', '"Hi', ' there"}'].map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      ],
      'save{"text":"Hi there"}',
    ],
    [
      'two functions',
      [
        { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"b":1}' } }] },
        { tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'c', arguments: '{"d":2}' } }] },
      ],
      'a{"b":1}c{"d":2}',
    ],
    ['a custom tool', [{ tool_calls: [{ index: 0, id: 'call_1', type: 'custom', custom: { name: 'patch', input: '+x' } }] }], 'patch+x'],
    ['a legacy function', [{ function_call: { name: 'f', arguments: '' } }, { function_call: { arguments: '{}' } }], 'f{}'],
  ])('%s', (_, deltas, text) => {
    const decoder = openai.decodeStream(CONTEXT);
    for (const delta of deltas) decoder.push(chunk(delta));
    expect(decoder).toMatchObject({ hasOutput: true, outputText: text, outputLength: text.length });
  });
});

test('a chunk of one of several answers has the index, id and time of the combined one', () => {
  const decoder = openai.decodeStream({ ...CONTEXT, choiceIndex: 2 });
  const [written = ''] = decoder.push(event('Hi'));
  expect(JSON.parse(written)).toMatchObject({ id: 'chatcmpl-req_1', created: 7, choices: [{ index: 2, delta: { content: 'Hi' } }] });
});

/** Adds ASCII as a part of a packet, and other text as a string. */
function addAsBytes(said: OutputText, piece: string): void {
  const packet = Buffer.from(`..${piece}..`);
  if (packet.length === piece.length + 4) said.addAscii(packet, 2, packet.length - 2);
  else said.add(piece);
}

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('audio and images', () => {
  test.each<[string, object, string]>([
    ['audio', { content: null, audio: { id: 'audio_1', data: 'A'.repeat(6401), transcript: 'Hi', expires_at: 9 } }, 'Hi … … …'],
    ['an image', { content: 'Hi', images: [IMAGE] }, `Hi${' …'.repeat(256)}`],
  ])('of a complete answer are counted: %s', (_, message, text) => {
    const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    expect(openai.decodeReply(body, CONTEXT).outputText).toBe(text);
  });

  test.each<[string, object]>([
    ['a transcript', { audio: { transcript: 'Hi' } }],
    ['audio', { audio: { data: 'AAAA' } }],
    ['an image', { images: [IMAGE] }],
  ])('count as output, so a stream without a finish reason ends well: %s', (_, said) => {
    const decoder = openai.decodeStream(CONTEXT);
    decoder.push(chunk({ role: 'assistant', audio: { id: 'audio_1' } }));
    expect(decoder).toMatchObject({ hasOutput: false, outputLength: 0 });
    decoder.push(chunk(said));
    expect(decoder).toMatchObject({ hasOutput: true, isComplete: false });
    expect(decoder.outputLength).toBeGreaterThan(0);
    decoder.push(chunk({ audio: { expires_at: 9 } }));
    decoder.push({ name: undefined, data: '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}' });
    const [end = ''] = decoder.push({ name: undefined, data: '[DONE]' });
    expect(JSON.parse(end)).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    expect(decoder).toMatchObject({ isComplete: true, usage: { outputTokens: 4 } });
  });

  test('are counted by their total length, however they are split', () => {
    const decoder = openai.decodeStream(CONTEXT);
    for (let count = 0; count < 25; count += 1) decoder.push(chunk({ audio: { data: 'A'.repeat(320) } }));
    expect(decoder).toMatchObject({ outputText: ' … … …', outputLength: 6 });
  });
});
