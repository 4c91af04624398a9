/** A cell of a table for spreadsheets. */
export type CsvValue = string | number | null | undefined;

/** A row in the form of RFC 4180. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? harmless(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet runs what begins like a formula; names are typed by people, and files are opened by others. */
function harmless(text: string): string {
  return /^[=+@\t\r-]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
}
