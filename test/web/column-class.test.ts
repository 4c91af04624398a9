import { expect, test } from 'bun:test';
import { columnClass } from '../../web/ui/column-class.ts';

const WORDS = { align: 'left' } as const;
const FIGURES = { align: 'right' } as const;
const MORE_WORDS = {};
const GAP = 'sm:group-data-dense/table:pl-4';

test('in a dense table, words keep a distance from the figures left of them', () => {
  const columns = [WORDS, FIGURES, MORE_WORDS];
  expect(columns.map((column) => columnClass(columns, column).split(' ').includes(GAP))).toEqual([false, false, true]);
  expect(columnClass([WORDS, MORE_WORDS], MORE_WORDS)).not.toContain(GAP);
});
