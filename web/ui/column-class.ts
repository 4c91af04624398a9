import { cx } from './cx.ts';

/** Minimum width of a list for a column to be shown: about that on a tablet, on a small laptop, or on a larger screen. */
export type ColumnMinWidth = 'medium' | 'large' | 'full';

interface HideableColumn {
  readonly align?: 'left' | 'right';
  readonly isWideOnly?: boolean;
  readonly minWidth?: ColumnMinWidth | undefined;
}

/** Returns the classes that hide a column in narrow lists and pad it. The outermost visible columns get the padding of the card. */
export function columnClass(columns: readonly HideableColumn[], column: HideableColumn): string {
  const shownOnPhones = columns.filter(({ isWideOnly, minWidth }) => isWideOnly !== true && minWidth === undefined);
  return cx(
    'px-3 group-data-dense/table:px-1.5 first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5',
    !shownOnPhones.includes(column) && 'max-sm:hidden',
    column === shownOnPhones.at(0) && 'max-sm:pl-4 max-sm:group-data-dense/table:pl-4',
    column === shownOnPhones.at(-1) && 'max-sm:pr-4 max-sm:group-data-dense/table:pr-4',
    column.minWidth !== undefined && HIDDEN[column.minWidth],
    followsFigures(columns, column) && 'sm:group-data-dense/table:pl-4',
    ...MIN_WIDTHS.map((minWidth, index) => column === columns.findLast((each) => isShownBelow(each, index)) && LAST[minWidth]),
  );
}

/** Tells whether words stand right of figures: so close together in a dense table, they would read as one. */
function followsFigures(columns: readonly HideableColumn[], column: HideableColumn): boolean {
  return column.align !== 'right' && columns[columns.indexOf(column) - 1]?.align === 'right';
}

const MIN_WIDTHS = ['medium', 'large', 'full'] as const;

/** Measured on the list rather than the window, which may also hold the sidebar. */
const HIDDEN: Readonly<Record<ColumnMinWidth, string>> = {
  medium: '@max-[43rem]/list:hidden',
  large: '@max-[58rem]/list:hidden',
  full: '@max-[68rem]/list:hidden',
};
const LAST: Readonly<Record<ColumnMinWidth, string>> = {
  medium: 'sm:@max-[43rem]/list:pr-5!',
  large: 'sm:@max-[58rem]/list:@min-[43rem]/list:pr-5!',
  full: 'sm:@max-[68rem]/list:@min-[58rem]/list:pr-5!',
};

/** Tells whether a column is shown in a list narrower than the width at an index. */
function isShownBelow({ minWidth }: HideableColumn, index: number): boolean {
  return minWidth === undefined || MIN_WIDTHS.indexOf(minWidth) < index;
}
