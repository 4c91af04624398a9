/** Enough for 32 columns in one statement: PostgreSQL takes 65,535 parameters, SQLite 32,766. */
const ROWS_MAX = 1000;

/** Cuts rows into parts that one statement can take. */
export function* partsOf<Row>(rows: readonly Row[]): Iterable<readonly Row[]> {
  for (let at = 0; at < rows.length; at += ROWS_MAX) yield rows.slice(at, at + ROWS_MAX);
}
