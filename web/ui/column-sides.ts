import { cx } from './cx.ts';

/** How wide a list must be to have room for a column: about as wide as on a tablet, on a small laptop, or on a larger screen. */
export type Room = 'medium' | 'large' | 'full';

interface SomeColumn {
  readonly isWideOnly?: boolean;
  readonly room?: Room | undefined;
}

/** Where a column is left out, and the room at its sides: the outermost have that of the card, also where others are left out. */
export function sidesOf(columns: readonly SomeColumn[], column: SomeColumn): string {
  const shownOnTelephones = columns.filter(({ isWideOnly, room }) => isWideOnly !== true && room === undefined);
  return cx(
    'px-3 group-data-dense/table:px-1.5 first:pl-4 last:pr-4 sm:first:pl-5 sm:last:pr-5',
    !shownOnTelephones.includes(column) && 'max-sm:hidden',
    column === shownOnTelephones.at(0) && 'max-sm:pl-4 max-sm:group-data-dense/table:pl-4',
    column === shownOnTelephones.at(-1) && 'max-sm:pr-4 max-sm:group-data-dense/table:pr-4',
    column.room !== undefined && HIDDEN[column.room],
    ...ROOMS.map((room, index) => column === columns.findLast((each) => fitsBelow(each, index)) && LAST[room]),
  );
}

const ROOMS = ['medium', 'large', 'full'] as const;

/** Measured at the list, not at the window, which may have the pages' names beside it. */
const HIDDEN: Readonly<Record<Room, string>> = {
  medium: '@max-[43rem]/list:hidden',
  large: '@max-[58rem]/list:hidden',
  full: '@max-[68rem]/list:hidden',
};
const LAST: Readonly<Record<Room, string>> = {
  medium: 'sm:@max-[43rem]/list:pr-5!',
  large: 'sm:@max-[58rem]/list:@min-[43rem]/list:pr-5!',
  full: 'sm:@max-[68rem]/list:@min-[58rem]/list:pr-5!',
};

/** Whether a column is there in a list that has less than one of the rooms. */
function fitsBelow({ room }: SomeColumn, index: number): boolean {
  return room === undefined || ROOMS.indexOf(room) < index;
}
