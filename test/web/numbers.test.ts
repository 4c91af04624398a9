import { afterAll, expect, test } from 'bun:test';
import { numberFormatChoice, type NumberFormat } from '../../web/number-format.ts';
import type * as Numbers from '../../web/numbers.ts';

afterAll(() => numberFormatChoice.set('en-US'));

test.each([
  ['en-US', ['60.9K', '1.23M', '99.9%', '<0.1%', '3.5']],
  ['de-DE', ['60.903', '1,23\u00a0Mio.', '99,9\u00a0%', '<0,1\u00a0%', '3,5']],
  ['de-CH', ["60'903", '1.23\u00a0Mio.', '99.9%', '<0.1%', '3.5']],
] as const)('in %s, a shortened number does not look exact, and a percentage does not round to 0 or 100', async (format, shown) => {
  const { formatCompact, formatDays, formatPercent } = await numbersIn(format);
  const written = [formatCompact(60_903), formatCompact(1_234_567), formatPercent(0.99999), formatPercent(0.00001), formatDays(3.5)];
  expect(written).toEqual([...shown]);
});

test.each([
  [0, '±0%'],
  [0.05, '+5%'],
  [-0.5, '−50%'],
  [8.9, '+890%'],
  [116.4, '×117'],
] as const)('a change of %p is shown as %s', async (part, shown) => {
  expect((await numbersIn('en-US')).formatChange(part)).toBe(shown);
});

/** Loads the module as a page with this number format would. */
async function numbersIn(format: NumberFormat): Promise<typeof Numbers> {
  numberFormatChoice.set(format);
  const path = `../../web/numbers.ts?${format}`;
  return (await import(path)) as typeof Numbers;
}
