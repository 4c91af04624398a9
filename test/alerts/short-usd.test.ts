import { expect, test } from 'bun:test';
import { shortUsd } from '../../src/alerts/short-usd.ts';

test.each([
  [0n, '$0.00'],
  [4_000_000_000n, '$4.00'],
  [4_500_000_000n, '$4.50'],
  [4_129_999_999n, '$4.12'],
  [10_000_000n, '$0.01'],
  [9_999_999n, '$0.0099'],
  [42_000n, '$0.000042'],
  [7n, '$0.000000007'],
  [-1_250_000_000n, '-$1.25'],
])('%d nano-dollars are shown as %s', (nanos, text) => {
  expect(shortUsd(nanos)).toBe(text);
});
