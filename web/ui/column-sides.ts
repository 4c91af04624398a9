import { cx } from './cx.ts';

interface SomeColumn {
  readonly isWideOnly?: boolean;
}

/** Whether a column is left out on telephones, and the room at its sides: the outermost have that of the card, also where others are left out. */
export function sidesOf(columns: readonly SomeColumn[], column: SomeColumn): string {
  const shownOnTelephones = columns.filter(({ isWideOnly }) => isWideOnly !== true);
  return cx(
    'px-3 group-data-dense/table:px-1.5 first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5',
    column.isWideOnly === true && 'max-sm:hidden',
    column === shownOnTelephones.at(0) && 'max-sm:pl-4 max-sm:group-data-dense/table:pl-4',
    column === shownOnTelephones.at(-1) && 'max-sm:pr-4 max-sm:group-data-dense/table:pr-4',
  );
}
