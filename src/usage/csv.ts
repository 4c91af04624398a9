/** What a cell of a table can hold. */
export type Cell = string | number | boolean | null | undefined;

const NEEDS_QUOTES = /[",\r\n]/u;
/** Spreadsheets run a text that begins so as a formula, and names of keys are free texts. Numbers are ours. */
const LOOKS_LIKE_FORMULA = /^[=+\-@\t\r]/u;

/** One line of a CSV file, with its end. */
export function writeCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`;
}

function writeCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = LOOKS_LIKE_FORMULA.test(cell) && !/^-?\d+(?:\.\d+)?$/u.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
