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

/** Makes a page of rows of which one more than wanted was asked for: it tells whether there is a next page. */
export function cut<Row>(rows: readonly Row[], rowsMax: number, placeOf: (row: Row) => string): PageOf<Row> {
  const shown = rows.slice(0, rowsMax);
  const last = rows.length > rowsMax ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? undefined : placeOf(last) };
}
