import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Outbox } from '../../src/http/outbox.ts';
import { formatEvent, SseParser } from '../../src/http/sse.ts';
import { ChunkTemplate } from '../../src/providers/chunk-template.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';
import { OutputText } from '../../src/providers/output-text.ts';
import type { StreamDecoder } from '../../src/providers/dialect.ts';

const contextOf = (host?: string) => ({
  modelId: 'ours/model',
  wantsUsage: false,
  chat: { model: 'ours/model', messages: [] },
  requestId: 'req_1',
  createdSeconds: 1,
  host: host === undefined ? undefined : HOSTS[host],
});

const chunkOf = (delta: object, rest: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'theirs',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  usage: null,
  ...rest,
});

const callOf = (call: object) => ({ tool_calls: [call] });

const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' the', 'é', '世', ' a', 'x') },
  { weight: 2, arbitrary: fc.constantFrom('"', '\\', '\n', '","finish_reason":"stop"', '"content":"a"', '{"model":"x"}', '\u2028', '') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const anyDelta = fc.oneof(
  { weight: 6, arbitrary: fc.record({ content: anyText }) },
  { weight: 2, arbitrary: fc.record({ content: anyText, reasoning_content: fc.constant(null) }) },
  { weight: 2, arbitrary: fc.record({ content: fc.constant(null), reasoning_content: anyText }) },
  { weight: 2, arbitrary: fc.record({ reasoning: anyText }) },
  { weight: 1, arbitrary: fc.record({ reasoning: anyText, reasoning_content: anyText }) },
  { weight: 1, arbitrary: fc.record({ content: anyText, reasoning_content: anyText }) },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('assistant'), content: anyText }) },
  { weight: 4, arbitrary: anyText.map((text) => callOf({ index: 0, function: { arguments: text } })) },
  { weight: 2, arbitrary: anyText.map((text) => callOf({ function: { arguments: text } })) },
  {
    weight: 1,
    arbitrary: anyText.map((text) => callOf({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } })),
  },
  { weight: 1, arbitrary: anyText.map((text) => callOf({ index: 0, id: 'b', function: { name: 'g', arguments: text } })) },
);
const anyWriting = fc.constantFrom<(chunk: object) => string>(
  (chunk) => JSON.stringify(chunk),
  (chunk) => JSON.stringify(chunk).replaceAll('":', '": '),
  (chunk) =>
    JSON.stringify(chunk).replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
);
/** A stream of chunks, most of which look like the one before. */
const anyStream = fc
  .record({
    runs: fc.array(fc.tuple(anyDelta, fc.array(anyText, { maxLength: 6 })), { maxLength: 8 }),
    isPadded: fc.boolean(),
    write: anyWriting,
  })
  .map(({ runs, isPadded, write }) =>
    runs
      .flatMap(([delta, texts]) => [delta, ...texts.map((text) => withText(delta, text))])
      .map((delta, position) => write(chunkOf(delta, isPadded ? { obfuscation: 'pA9'.repeat(position % 3) } : {}))),
  );

function withText(delta: object, text: string): object {
  return JSON.parse(JSON.stringify(delta), (name, value: unknown) =>
    ['content', 'reasoning', 'arguments'].includes(name) && typeof value === 'string' ? text : value,
  ) as object;
}

/** Returns the chunks sent to the caller when every one is parsed. */
function parseAll(decoder: StreamDecoder, events: readonly string[]): unknown[] {
  return events.flatMap((data) => decoder.push({ name: undefined, data })).map((chunk): unknown => JSON.parse(chunk));
}

/** Returns the chunks sent to the caller, and how many of them were taken without parsing. */
function takeOrParse(decoder: StreamDecoder, packet: Buffer): { chunks: unknown[]; taken: number } {
  let [sent, at, taken] = ['', 0, 0];
  const out = new Outbox();
  while (at < packet.length) {
    const tokensEnd = decoder.takeTokens?.(packet, at, packet.length, out) ?? at;
    sent += out.read();
    taken += out.read().split('\n\n').length - 1;
    out.clear();
    const end = tokensEnd > at ? tokensEnd : packet.indexOf('\n\n', at) + 2;
    const data = packet.toString('utf8', at + 'data: '.length, end - 2);
    if (tokensEnd === at) sent += decoder.push({ name: undefined, data }).map(formatEvent).join('');
    at = end;
  }
  const chunks = new SseParser().push(Buffer.from(sent)).map((event): unknown => JSON.parse(event.data));
  return { chunks, taken };
}

function expectSame(events: readonly string[], host?: string): number {
  const [parsing, taking] = [openai.decodeStream(contextOf(host)), openai.decodeStream(contextOf(host))];
  const { chunks, taken } = takeOrParse(taking, Buffer.from(events.map(formatEvent).join('')));
  expect(chunks).toEqual(parseAll(parsing, events));
  expect(taking.outputText).toBe(parsing.outputText);
  expect(taking.outputLength).toBe(parsing.outputLength ?? -1);
  return taken;
}

describe('a stream of similar chunks', () => {
  test('equals a stream in which every chunk was parsed and rewritten', () => {
    fc.assert(
      fc.property(anyStream, fc.constantFrom(undefined, 'xai'), (events, host) => void expectSame(events, host)),
      { numRuns: 1500 },
    );
  });

  const role = JSON.stringify(chunkOf({ role: 'assistant', content: '' }));
  const words = ['one', ' "two"', '\nthree', ' für', ' 四', '\u{1f600}'];

  test.each<[string, (text: string, position: number) => object]>([
    ['text', (content) => chunkOf({ content })],
    ['padded text', (content, position) => chunkOf({ content }, { obfuscation: 'aB3dE5'.slice(position) })],
    ['text beside nothing', (content) => chunkOf({ content, reasoning_content: null })],
    ['reasoning', (text) => chunkOf({ content: null, reasoning_content: text })],
    ['reasoning by its other name', (reasoning) => chunkOf({ reasoning })],
    ['arguments', (text) => chunkOf(callOf({ index: 0, function: { arguments: text } }))],
  ])('is taken without parsing once one was seen: %s', (_, write) => {
    const start = JSON.stringify(chunkOf(callOf({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } })));
    const events = [role, start, ...words.map((word, position) => JSON.stringify(write(word, position)))];
    expect(expectSame(events)).toBe(words.length - 1);
  });

  test('is parsed if no two chunks look alike, and taken again once they do', () => {
    const unlike = Array.from({ length: 20 }, (_, position) => JSON.stringify(chunkOf({ content: 'a' }, { position })));
    expect(expectSame([...unlike, ...unlike])).toBe(0);
    const alike = words.map((content) => JSON.stringify(chunkOf({ content })));
    expect(expectSame([...unlike.slice(0, 5), ...alike, ...unlike.slice(0, 5), ...alike])).toBe(2 * (alike.length - 1));
  });

  test('goes on with the call that a host without indexes has started last', () => {
    const piece = JSON.stringify(chunkOf(callOf({ function: { arguments: '1' } })));
    const start = (id: string) => JSON.stringify(chunkOf(callOf({ id, function: { name: id, arguments: '' } })));
    expect(expectSame([start('a'), piece, piece, start('b'), piece, piece])).toBe(2);
  });

  test('drops the reasoning that a host repeats', () => {
    const piece = JSON.stringify(chunkOf({ reasoning_content: 'hm' }));
    expect(expectSame([piece, piece, piece], 'xai')).toBe(0);
    expect(expectSame([piece, piece, piece])).toBe(1);
  });

  test('is taken from a packet of any length', () => {
    const events = Array.from({ length: 500 }, (_, position) => JSON.stringify(chunkOf({ content: `w${position}`.padEnd(position) })));
    expect(expectSame(events)).toBe(events.length - 2);
  });

  test('still ends with its final chunk', () => {
    const decoder = openai.decodeStream(contextOf());
    parseAll(
      decoder,
      ['a', 'b', 'c'].map((content) => JSON.stringify(chunkOf({ content }))),
    );
    expect(decoder.isComplete).toBe(false);
    const choices = [{ index: 0, delta: { content: 'd' }, finish_reason: 'stop' }];
    parseAll(decoder, [JSON.stringify({ ...chunkOf({}), choices })]);
    expect(decoder.isComplete).toBe(true);
    expect(decoder.outputText).toBe('abcd');
  });
});

/** Returns a stream whose form is known. */
function begun(): StreamDecoder {
  const decoder = openai.decodeStream(contextOf());
  for (const delta of [{ role: 'assistant', content: '' }, { content: 'x' }])
    decoder.push({ name: undefined, data: JSON.stringify(chunkOf(delta)) });
  return decoder;
}

const contentsOf = (events: string): string[] => [...events.matchAll(/"content":"[^,]*"/gu)].map(([content]) => content);

describe('a packet of tokens', () => {
  const tokens = ['one', ' "two"', ' für', ' 四', ' five'].map((content) => formatEvent(JSON.stringify(chunkOf({ content }))));
  test.each([
    ['is cut off', (event: string) => event.slice(0, -1)],
    ['has another last byte', (event: string) => `${event.slice(0, -1)}\r`],
    ['has text that is no JSON', (event: string) => event.replace('five', String.raw`\q`)],
    ['ends the choice', (event: string) => event.replace('"finish_reason":null', '"finish_reason":"stop"')],
  ])('is taken up to the event that %s, of which nothing is sent or counted', (_, change) => {
    const [decoder, out] = [begun(), new Outbox()];
    const packet = Buffer.from([...tokens.slice(0, 4), change(tokens.at(-1) ?? '')].join(''));
    const end = decoder.takeTokens?.(packet, 0, packet.length, out);
    expect(packet.toString('utf8', 0, end)).toBe(tokens.slice(0, 4).join(''));
    expect(contentsOf(out.read())).toEqual(contentsOf(tokens.slice(0, 4).join('')));
    expect(decoder.outputText).toBe('xone "two" für 四');
  });

  test('is added to what has been gathered', () => {
    const [decoder, out] = [begun(), new Outbox()];
    out.addText('before ');
    const packet = Buffer.from(`..${tokens[0]}..`);
    expect(decoder.takeTokens?.(packet, 0, packet.length, out)).toBe(0);
    expect(out.read()).toBe('before ');
    expect(decoder.takeTokens?.(packet, 2, packet.length, out)).toBe(packet.length - 2);
    expect(out.read()).toStartWith('before data: {');
  });
});

const reasoned = (text: string) => formatEvent(JSON.stringify(chunkOf({ reasoning: text })));
const reasonedTwice = (text: string) => formatEvent(JSON.stringify(chunkOf({ reasoning: text, reasoning_content: text })));

describe('a chunk template', () => {
  const data = JSON.stringify(chunkOf({ content: 'Hi' }));
  const gaps = { field: 'content', text: 'Hi' };
  const eventOf = (text: string) => formatEvent(data.replace('Hi', text));
  const make = (received: string, text = 'Hi') => ChunkTemplate.from(received, eventOf('Hi'), { ...gaps, text });

  test('is not made if the position of the text is ambiguous', () => {
    expect(make(`${data}"content":"Hi"`)).toBeUndefined();
    expect(make(data.replace('Hi', ''), '')).toBeUndefined();
    expect(make(data.replace('"content":"Hi"', '"content":\t"Hi"'))).toBeUndefined();
    expect(ChunkTemplate.from(data, `${data}${data}`, gaps)).toBeUndefined();
    expect(ChunkTemplate.from(data, data, { ...gaps, padding: 'ab' })).toBeUndefined();
    expect(ChunkTemplate.from(data, data, { ...gaps, addedField: 'other' })).toBeUndefined();
  });

  /** Returns what the template makes of a packet; undefined when it does not match. */
  const match = (packet: string | Buffer, template = make(formatEvent(data))) => {
    const bytes = Buffer.from(packet);
    const [out, output] = [new Outbox(), new OutputText()];
    const end = template?.match(bytes, 0, bytes.length) ?? 0;
    if (end === 0) return undefined;
    template?.write(bytes, out);
    template?.tell(bytes, output);
    return { text: output.read(), written: out.read(), end };
  };

  test('returns the text of an event, what to send, and where it ends', () => {
    const event = eventOf('there');
    expect(match(event)).toEqual({ text: 'there', written: event, end: event.length });
    expect(match(`${event}data: `)).toEqual({ text: 'there', written: event, end: event.length });
    expect(match(eventOf(''))).toBeUndefined();
    expect(match(eventOf(String.raw`a\n\"\u00e9\\`))?.text).toBe('a\n"é\\');
  });

  test.each(['there', 'für', '四', String.raw`a\nb`, String.raw`für\n`, String.raw`\ud83d\ude00`, '\u007f'])(
    'sends text as it came: %s',
    (text) => {
      expect(match(eventOf(text))).toMatchObject({ written: eventOf(text), text: JSON.parse(`"${text}"`) });
    },
  );

  test('replaces bytes that are no valid text', () => {
    const [before = '', after = ''] = eventOf('HOLE').split('HOLE');
    for (const bytes of [[0xff], [0x61, 0xe4, 0xbd], [0xc3, 0x28], [0xf0, 0x9f, 0x98, 0x20]]) {
      const event = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
      expect(match(event)).toMatchObject({ written: event.toString(), text: Buffer.from(bytes).toString() });
    }
  });

  const padded = (text: string, padding: string) => formatEvent(JSON.stringify(chunkOf({ content: text }, { obfuscation: padding })));

  test('sends padding as it came, unless it is no valid text', () => {
    const template = ChunkTemplate.from(padded('Hi', 'ab'), padded('Hi', 'ab'), { ...gaps, padding: 'ab' });
    for (const padding of ['', 'c', 'dEf'.repeat(30), 'é'])
      expect(match(padded('there', padding), template)).toMatchObject({ text: 'there', written: padded('there', padding) });
    const [before = '', after = ''] = padded('there', 'HOLE').split('HOLE');
    const event = Buffer.concat([Buffer.from(before), Buffer.from([0x61, 0xff]), Buffer.from(after)]);
    expect(match(event, template)?.written).toBe(padded('there', 'a\ufffd'));
    expect(match(padded('there', 'a"b'), template)).toBeUndefined();
  });

  test('sends reasoning under both names', () => {
    const template = ChunkTemplate.from(reasoned('Hi'), reasonedTwice('Hi'), {
      field: 'reasoning',
      text: 'Hi',
      addedField: 'reasoning_content',
    });
    for (const text of ['there', '四', 'a "b"\n'])
      expect(match(reasoned(text), template)).toMatchObject({ text, written: reasonedTwice(text) });
  });

  test.each(['say "no"', String.raw`a\qb`, String.raw`a\u12`, 'a\tb', 'a\nb', 'a\\'])('does not match text that is no JSON: %s', (text) => {
    expect(match(eventOf(text))).toBeUndefined();
  });

  test('does not match an incomplete event', () => {
    const event = eventOf('there');
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
