import { describe, expect, test } from 'bun:test';
import { decodeText, Exchange } from '../../src/http/exchange.ts';
import { failureOf } from '../simulator/failure.ts';

describe('a body that has arrived', () => {
  test('is taken at once, in however many pieces it came', () => {
    for (const pieces of [['{"a":1}'], ['{"a"', ':', '1}']]) {
      const exchange = new Exchange();
      for (const piece of pieces) exchange.onBody(Buffer.from(piece));
      exchange.onEnd();
      expect(exchange.takeArrived()?.toString()).toBe('{"a":1}');
      expect(exchange.takeArrived()).toBeUndefined();
    }
  });

  test('is not taken before its end, and is read as text then', async () => {
    const exchange = new Exchange();
    exchange.onBody(Buffer.from('{"a"'));
    expect(exchange.takeArrived()).toBeUndefined();
    const reading = exchange.text(100);
    exchange.onBody(Buffer.from(':1}'));
    exchange.onEnd();
    expect(await reading).toBe('{"a":1}');
    expect(exchange.takeArrived()).toBeUndefined();
  });

  test('is not taken when its end is missing', async () => {
    const exchange = new Exchange();
    exchange.head.catch(() => undefined);
    exchange.onBody(Buffer.from('{"a"'));
    exchange.onFailure(new Error('reset'));
    expect(exchange.takeArrived()).toBeUndefined();
    expect(await failureOf(exchange.text(100))).toMatchObject({ message: 'reset' });
  });

  test('is decoded without its byte order mark, and with a sign for what is no valid UTF-8', () => {
    expect(decodeText(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xff, 0x7d]))).toBe('{\ufffd}');
  });
});
