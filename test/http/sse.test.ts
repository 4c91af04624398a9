import { describe, expect, test } from 'bun:test';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { EVENT_CHARACTERS_MAX, SseParser, type SseEvent } from '../../src/http/sse.ts';

/** Returns the events of these packets, including the end of the stream. */
function parse(packets: readonly Uint8Array[]): SseEvent[] {
  const parser = new SseParser();
  return [...packets.flatMap((packet) => parser.push(packet)), ...parser.end()];
}

/** Returns the events of the whole text, by a parser without shortcuts. */
function parsePlainly(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) });
  parser.feed(`${text}\n\n`);
  return events;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const edges = [...new Set([0, ...at.map((place) => place % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  return edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
}

const pieces = fc.constantFrom(
  'data: {"a":"ü 漢 👋"}\n\n',
  'data: x\n\n',
  'data:y\n\n',
  'data: \n\n',
  'data: one\ndata: two\n\n',
  'data: first\n',
  'event: error\n',
  'event: error\ndata: z\n\n',
  ': comment\n\n',
  'id: 1\n',
  'retry: 5\n\n',
  'data: a\r\n\r\n',
  'data: b\rdata: c\r\r',
  'data: d\r\n\n',
  '\n',
  '\n\n',
  '\r',
  'data: [DONE]\n\n',
  'data',
  'dat',
);
const streams = fc.array(pieces, { maxLength: 12 }).map((list) => list.join(''));

describe('events', () => {
  test('are the same with and without shortcuts, however the bytes are split', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 20 }), (text, at) => {
        expect(parse(cut(new TextEncoder().encode(text), at))).toEqual(parsePlainly(text));
      }),
      { numRuns: 3000 },
    );
  });

  test('in one packet are all returned', () => {
    expect(parse([new TextEncoder().encode('data: a\n\ndata: b\n\nevent: e\ndata: c\n\n')])).toEqual([
      { name: undefined, data: 'a' },
      { name: undefined, data: 'b' },
      { name: 'e', data: 'c' },
    ]);
  });

  test('with an image of some megabytes are complete', () => {
    const data = 'iVBORw0KGgo'.repeat(1_000_000);
    const bytes = new TextEncoder().encode(`data: ${data}\n\n`);
    const packets = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
      bytes.subarray(index * 65_536, (index + 1) * 65_536),
    );
    expect(parse(packets)).toEqual([{ name: undefined, data }]);
  });

  test('that are too long are refused', () => {
    const parser = new SseParser();
    const packet = new Uint8Array(EVENT_CHARACTERS_MAX / 2).fill(0x61);
    parser.push(new TextEncoder().encode('data: '));
    expect(() => [1, 2, 3, 4].map(() => parser.push(packet))).toThrow('longer than');
  });
});
