import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AwsEventStreamParser, MESSAGE_BYTES_MAX } from '../../src/http/aws-event-stream.ts';
import { encodeEvent, encodeException, encodeMessage } from '../simulator/aws-wire.ts';

const EVENTS = [
  encodeEvent('messageStart', { role: 'assistant' }),
  encodeEvent('contentBlockDelta', { delta: { text: 'naïve ☕ 漢字' } }),
  encodeException('throttlingException', 'Slow down.'),
];
const STREAM = new Uint8Array(Buffer.concat(EVENTS));

function readAll(pieces: readonly Uint8Array[]): { name: string | undefined; body: unknown }[] {
  const parser = new AwsEventStreamParser();
  const events = pieces.flatMap((piece) => parser.push(piece));
  return [...events, ...parser.end()].map(({ name, data }) => ({ name, body: JSON.parse(data) as unknown }));
}

describe('a stream of AWS messages', () => {
  test('yields one event per message, named by its type', () => {
    expect(readAll([STREAM])).toEqual([
      { name: 'messageStart', body: { role: 'assistant', p: 'abcdefghijkl' } },
      { name: 'contentBlockDelta', body: { delta: { text: 'naïve ☕ 漢字' }, p: 'abcdefghijkl' } },
      { name: 'exception', body: { type: 'throttlingException', message: 'Slow down.' } },
    ]);
  });

  test('yields the same events however it is split', () => {
    const whole = readAll([STREAM]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: STREAM.length }), { maxLength: 40 }), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), STREAM.length];
        const pieces = cuts.slice(1).map((end, index) => STREAM.subarray(cuts[index], end));
        expect(readAll(pieces)).toEqual(whole);
      }),
    );
  });

  test('yields the same events byte by byte', () => {
    expect(readAll([...STREAM].map((byte) => Uint8Array.of(byte)))).toEqual(readAll([STREAM]));
  });

  test('fails when it ends in the middle of a message, but not between two', () => {
    const parser = new AwsEventStreamParser();
    parser.push(STREAM.subarray(0, STREAM.length - 1));
    expect(() => parser.end()).toThrow('in the middle of an event');
    expect(readAll(EVENTS.slice(0, 2))).toHaveLength(2);
  });

  test('is refused when a message was damaged in transit, wherever the damage is', () => {
    const message = EVENTS[1] ?? STREAM;
    fc.assert(
      fc.property(fc.integer({ min: 8, max: message.length - 1 }), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const damaged = Uint8Array.from(message);
        damaged[place] = (damaged[place] ?? 0) ^ change;
        expect(() => new AwsEventStreamParser().push(damaged)).toThrow();
      }),
    );
  });

  test.each([0, 15, MESSAGE_BYTES_MAX + 1, 2 ** 32 - 1])('is refused at once when it announces a message of %d bytes', (length) => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, length);
    expect(() => new AwsEventStreamParser().push(bytes)).toThrow(`An event of ${length} bytes`);
  });

  test('reports connection errors as exceptions', () => {
    const message = encodeMessage({ ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'Down' }, '');
    expect(readAll([message])).toEqual([{ name: 'exception', body: { type: 'InternalFailure', message: 'Down' } }]);
  });

  test('reports an exception whose payload is not JSON with its original text', () => {
    const message = encodeMessage({ ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' }, 'Down');
    expect(readAll([message])).toEqual([{ name: 'exception', body: { type: 'modelStreamErrorException', message: 'Down' } }]);
  });

  test('gives a message without a type an empty name, which decoders ignore', () => {
    expect(readAll([encodeMessage({}, '{}')])).toEqual([{ name: '', body: {} }]);
  });
});
