import { cx } from './cx.ts';

interface SomeColumn {
  readonly isWideOnly?: boolean;
}

/** Whether a column is left out on telephones, and the room at its sides: the outermost have that of the card, also where the last one is left out. */
export function sidesOf(columns: readonly SomeColumn[], column: SomeColumn): string {
  const isWideOnly = column.isWideOnly === true;
  const isLastOnTelephones = column === columns.findLast((each) => each.isWideOnly !== true);
  return cx(
    'px-3 group-data-dense/table:px-2 first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5',
    isWideOnly && 'max-sm:hidden',
    isLastOnTelephones && 'max-sm:pr-4 max-sm:group-data-dense/table:pr-4',
  );
}
