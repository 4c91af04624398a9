import { asNanos, formatPricePerMillion, formatUsd, type Picos } from '../ledger/money.ts';

/** Text for people: amounts, counts and tables. Programs use `--json`. */

/** Formats an amount exactly, with its currency: `$5`, `-$12.50`, `$0.000042`. */
export function sayUsd(amount: bigint): string {
  return `${amount < 0n ? '-' : ''}$${toCents(formatUsd(asNanos(amount < 0n ? -amount : amount)))}`;
}

/** Formats a price per million tokens: `$3`, `$0.0375`. */
export function sayPrice(price: Picos): string {
  return `$${toCents(formatPricePerMillion(price))}`;
}

/** Writes a tenth as two digits: `12.5` as `12.50`. */
const toCents = (digits: string): string => (/\.\d$/u.test(digits) ? `${digits}0` : digits);

/** Formats a number of things: `1 key`, `2 keys`. */
export function sayCount(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

interface TableOptions {
  /** The numbers of the columns that are aligned to the right. */
  readonly right?: readonly number[];
  /** What is said instead of a table without rows. */
  readonly empty?: string;
}

/** Aligns the columns of a table. One that is empty in every row takes no space; a Chinese character takes two columns of a terminal. */
export function alignColumns(rows: readonly (readonly string[])[], { right = [], empty }: TableOptions = {}): string[] {
  if (rows.length === 0 && empty !== undefined) return [empty];
  const widths = (rows[0] ?? []).map((_, column) => rows.reduce((width, row) => Math.max(width, widthOf(row[column])), 0));
  const pad = (cell: string, column: number): string => {
    const space = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return right.includes(column) ? space + cell : cell + space;
  };
  const join = (row: readonly string[]): string =>
    row
      .map(pad)
      .filter((_, column) => widths[column] !== 0)
      .join('  ');
  return rows.map((row) => join(row).trimEnd());
}

/** The columns of a terminal that a cell takes. */
const widthOf = (cell: string | undefined): number => Bun.stringWidth(makePlain(cell ?? ''));

/** Makes the characters visible that a terminal would obey: a name or a reason may come from anybody. */
export function makePlain(line: string): string {
  return line.replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
