/** Which part of a list is wanted, the newest first. */
export interface PageRequest {
  /** Where the former page ended. */
  readonly before: string | undefined;
  readonly rowsMax: number;
}

/** A part of a list, and where the next one begins. */
export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
}

/** Where a page ends whose rows stand in the order of their time and, among those of one moment, of their id. */
export function writePlace(at: bigint | number, id: string): string {
  return `${at}-${id}`;
}

export function readPlace(before: string): { readonly at: bigint; readonly id: string } {
  const end = before.indexOf('-');
  return { at: BigInt(before.slice(0, end)), id: before.slice(end + 1) };
}

/** Makes a page of rows of which one more than wanted was asked for: it tells whether there is a next page. */
export function cut<Row>(rows: readonly Row[], rowsMax: number, placeOf: (row: Row) => string): PageOf<Row> {
  const shown = rows.slice(0, rowsMax);
  const last = rows.length > rowsMax ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? undefined : placeOf(last) };
}
