import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatUsd, formatUsdExact, ratioOf, readAmount, signOf, sumUsd } from '../../web/money.ts';

describe('formatting an amount', () => {
  test.each([
    ['0', '$0.00'],
    ['12', '$12.00'],
    ['12.5', '$12.50'],
    ['1234567.891', '$1,234,567.89'],
    ['0.000042', '$0.000042'],
    ['0.0000004251', '$0.00000043'],
    ['0.02', '$0.02'],
    ['0.001', '$0.001'],
    ['0.00101', '$0.0010'],
    ['0.000999', '$0.0010'],
    ['0.0996', '$0.10'],
    ['0.996', '$1.00'],
    ['-3.456', '−$3.46'],
    ['-0.00', '$0.00'],
    ['999.995', '$1,000.00'],
  ])('shows %s as %s', (amount, shown) => {
    expect(formatUsd(amount)).toBe(shown);
  });

  test('never shows a positive amount as zero', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), (nanos) => {
        expect(formatUsd(decimal(nanos))).toMatch(/[1-9]/u);
      }),
    );
  });

  test('keeps every digit of an exact amount', () => {
    expect(formatUsdExact('0.01775')).toBe('$0.01775');
    expect(formatUsdExact('5')).toBe('$5.00');
    expect(formatUsdExact('1234.000000001')).toBe('$1,234.000000001');
  });

  test('refuses text that is not an amount', () => {
    expect(() => formatUsd('1e-7')).toThrow("'1e-7' is not a decimal amount.");
  });
});

describe('reading a typed amount', () => {
  test.each([
    ['en-US', '12.50', '12.50'],
    ['en-US', '1,500', '1500'],
    ['en-US', '1,234,567.8', '1234567.8'],
    ['en-US', ' $1 500 ', '1500'],
    ['en-US', '.5', '0.5'],
    ['en-US', '5.', '5'],
    ['en-US', '', ''],
    ['en-US', '12,50', undefined],
    ['en-US', '0,001', undefined],
    ['en-US', '1,5000', undefined],
    ['en-US', '1.500,00', undefined],
    ['en-US', '1.2.3', undefined],
    ['en-US', '.', undefined],
    ['en-US', '-5', undefined],
    ['en-US', '1e3', undefined],
    ['de-DE', '1.000,00', '1000.00'],
    ['de-DE', '1.500', '1500'],
    ['de-DE', '12,5', '12.5'],
    ['de-DE', '12.50', undefined],
    ['de-DE', '1,500.00', undefined],
    ['fr-FR', '1\u202F234,5', '1234.5'],
    ['fr-FR', '1 234,5', '1234.5'],
    ['fr-FR', '1.500', undefined],
    ['de-CH', "1'234.5", '1234.5'],
    ['de-CH', '1,500', undefined],
    ['en-IN', '12,34,567.5', '1234567.5'],
    ['en-IN', '१२,३४,५६७.५', '1234567.5'],
    ['en-US', '１，５００．５', '1500.5'],
    ['en-US', '١٢٫٥', '12.5'],
    ['de-DE', '۱۲٫۵', '12.5'],
  ] as const)('in %s, reads %p as %p', (format, typed, amount) => {
    expect(readAmount(typed, format)).toBe(amount);
  });
});

test('adds amounts exactly', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })), (nanos) => {
      const total = nanos.reduce((sum, each) => sum + each, 0n);
      expect(formatUsdExact(sumUsd(nanos.map(decimal)))).toBe(formatUsdExact(decimal(total)));
    }),
  );
});

test('returns the sign of an amount, 0 for zero', () => {
  expect(['-0.01', '0.00', '3'].map(signOf)).toEqual([-1, 0, 1]);
});

test('returns the share of an amount, and 0 for a share of zero', () => {
  expect(ratioOf('1', '0')).toBe(0);
  expect(ratioOf('1', '4')).toBe(0.25);
});

function decimal(nanos: bigint): string {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, '0');
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
