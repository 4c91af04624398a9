import { asNanos, formatUsd } from '../ledger/money.ts';

/** Text for people: amounts, counts and tables. Programs use `--json`. */

/** Formats an amount exactly, with its currency: `$5`, `-$12.50`, `$0.000042`. */
export function sayUsd(amount: bigint): string {
  const digits = formatUsd(asNanos(amount < 0n ? -amount : amount));
  return `${amount < 0n ? '-' : ''}$${/\.\d$/u.test(digits) ? `${digits}0` : digits}`;
}

/** Formats a number of things: `1 key`, `2 keys`. */
export function sayCount(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

/** Aligns the columns of a table. Those with a number in `right` are aligned to the right. */
export function alignColumns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  const pad = (cell: string, column: number): string => {
    const space = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return right.includes(column) ? space + cell : cell + space;
  };
  // A column that is empty in every row takes no space.
  return rows.map((row) =>
    row
      .map(pad)
      .filter((_, column) => widths[column] !== 0)
      .join('  ')
      .trimEnd(),
  );
}

/** The columns that a cell takes on a terminal: two for each Chinese character. */
function widthOf(cell: string): number {
  return Bun.stringWidth(makePlain(cell));
}

/** Makes the characters visible that a terminal would obey: a name or a reason may come from anybody. */
export function makePlain(line: string): string {
  return line.replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
