import { expect, test } from 'bun:test';
import { readBound } from '../../web/pages/requests/read-bound.ts';

test.each([
  ['usd', '0.001', '0.001'],
  ['usd', '.001', '0.001'],
  ['usd', '0,001', '0.001'],
  ['usd', '12,5', '12.5'],
  ['usd', ' 1,500 ', '1500'],
  ['usd', '1,500.25', '1500.25'],
  ['usd', '', ''],
  ['usd', '0.0000000001', undefined],
  ['usd', 'cheap', undefined],
  ['usd', '-1', undefined],
  ['usd', '1e3', undefined],
  ['count', '1000', '1000'],
  ['count', '1,000', '1000'],
  ['count', '.5', undefined],
  ['count', '2 s', undefined],
] as const)('reads a filter bound of type %s typed as %p as %p', (kind, typed, value) => {
  expect(readBound(kind, typed)).toBe(value);
});
