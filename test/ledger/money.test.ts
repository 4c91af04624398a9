import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  asNanos,
  formatPricePerToken,
  formatUsd,
  parsePrice,
  parseUsd,
  priceTokens,
  roundUpToNanos,
  type Picos,
} from '../../src/ledger/money.ts';

describe('money', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['0.000000001', 1n],
    ['12.5', 12_500_000_000n],
    ['-3.25', -3_250_000_000n],
  ])('parses %s USD exactly', (text, nanos) => {
    expect(parseUsd(text)).toBe(asNanos(nanos));
  });

  test.each(['', 'abc', '1e3', '0.0000000001', '1.', '.5', '1,5', '1234567890123', 'NaN', '0x10'])('refuses %p as an amount', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  test('prices per million tokens become integer pico-dollars per token', () => {
    expect(parsePrice('0.0375')).toBe(37_500n as Picos);
    expect(parsePrice('0.003625')).toBe(3625n as Picos);
    expect(parsePrice('0.0000001')).toBeUndefined();
  });

  test('prices per token are formatted without an exponent', () => {
    expect(formatPricePerToken(2_500_000n as Picos)).toBe('0.0000025');
    expect(formatPricePerToken(0n as Picos)).toBe('0');
  });

  test('every amount survives formatting and parsing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (value) => {
        expect(parseUsd(formatUsd(asNanos(value)))).toBe(asNanos(value));
      }),
    );
  });

  test('a charge is never below the exact price, and less than one nano-dollar above it', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 - 1 }), fc.bigInt({ min: 0n, max: 10n ** 9n }), (count, price) => {
        const exact = priceTokens(count, price as Picos);
        const charged = roundUpToNanos(exact) * 1000n;
        expect(charged >= exact && charged - exact < 1000n).toBe(true);
      }),
    );
  });
});
