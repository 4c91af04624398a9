import { describe, expect, test } from 'bun:test';
import { alignFractions } from '../../web/ui/chart.ts';

describe('axis labels', () => {
  test.each([
    [
      ['$0.00', '$0.005', '$0.01', '$0.015'],
      ['$0.000', '$0.005', '$0.010', '$0.015'],
    ],
    [
      ['$0,00', '$0,50', '$1,00'],
      ['$0,00', '$0,50', '$1,00'],
    ],
    [
      ['0', '500', '1,000', '1,500'],
      ['0', '500', '1,000', '1,500'],
    ],
    [
      ['0 ms', '500 ms', '1 s', '1.5 s'],
      ['0 ms', '500 ms', '1 s', '1.5 s'],
    ],
  ])('%p get the same number of decimals', (labels, aligned) => {
    expect(alignFractions(labels)).toEqual(aligned);
  });
});
