/** The value of a table cell. */
export type CsvCell = string | number | boolean | null | undefined;

const NEEDS_QUOTES = /[",\r\n]/u;
/** Spreadsheets run text that begins like this as a formula, some also with the wide signs, and key names are free text. Numbers are our own. */
const LOOKS_LIKE_FORMULA = /^[=+\-@＝＋－＠\t\r\n]/u;

/** Formats one line of a CSV file, including the line break. */
export function writeCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`;
}

function writeCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = LOOKS_LIKE_FORMULA.test(cell) && !/^-?\d+(?:\.\d+)?$/u.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
