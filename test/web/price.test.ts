import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatUsd as serverFormat, parsePrice, type Picos } from '../../src/ledger/money.ts';
import { costOf as serverCost, type TokenPrices } from '../../src/ledger/price.ts';
import { costOf, costOfMany, usdOf } from '../../web/price.ts';

const PRICE = { input: '2.5', cachedInput: '0.25', cacheWrite: '3.125', output: '15' };
const LONG = { input: '5', cachedInput: '0.5', cacheWrite: '6.25', output: '22.5', overTokens: 1000 };

test('the page calculates the same cost as the ledger', () => {
  const count = fc.integer({ min: 0, max: 2_000_000 });
  fc.assert(
    fc.property(count, count, count, count, (input, cachedInput, cacheWrite, output) => {
      const charged = serverCost(
        { ...picos(PRICE), long: { ...picos(LONG), overTokens: LONG.overTokens } },
        { inputTokens: input, cachedInputTokens: cachedInput, cacheWriteTokens: cacheWrite, outputTokens: output, reasoningTokens: 0 },
      );
      expect(costOf({ price: PRICE, longPrice: LONG }, { input, cachedInput, cacheWrite, output })).toBe(serverFormat(charged));
    }),
  );
});

test('the cost of many requests is the rounded cost of one, multiplied', () => {
  const tokens = { input: 1, cachedInput: 0, cacheWrite: 0, output: 0 };
  expect(costOfMany({ price: { ...PRICE, input: '0.0001' }, longPrice: null }, tokens, 1000)).toBe('0.000001');
});

test('writes an amount from JSON without an exponent', () => {
  expect([0, 4.2e-7, 12, 0.01775].map(usdOf)).toEqual(['0', '0.00000042', '12', '0.01775']);
});

function picos({ input, cachedInput, cacheWrite, output }: typeof PRICE): TokenPrices {
  return { input: read(input), cachedInput: read(cachedInput), cacheWrite: read(cacheWrite), output: read(output) };
}

function read(price: string): Picos {
  const value = parsePrice(price);
  if (value === undefined) throw new Error('no price');
  return value;
}
