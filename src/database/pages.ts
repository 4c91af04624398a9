import { sql, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';

/** Which part of a list to read, newest first. */
export interface PageRequest {
  /** Where the previous page ended. */
  readonly before: string | undefined;
  readonly rowsMax: number;
}

/** One page of a list, and where the next one begins. */
export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
}

/** Reads one page of a query, newest first, with ids as tie-breaker. `table` is the one that has both columns. */
export async function readPage<
  DB,
  TB extends keyof DB,
  Row extends { readonly created_at: bigint } & Readonly<Record<Id, string>>,
  Id extends string,
>(query: SelectQueryBuilder<DB, TB, Row>, table: keyof DB & string, id: Id, { before, rowsMax }: PageRequest): Promise<PageOf<Row>> {
  const [atColumn, idColumn] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.${id}`)];
  const rest = before === undefined ? query : query.where(sql<SqlBool>`(${atColumn}, ${idColumn}) < ${positionOf(before)}`);
  const rows = await rest
    .orderBy(atColumn, 'desc')
    .orderBy(idColumn, 'desc')
    .limit(rowsMax + 1)
    .execute();
  return toPage(rows, rowsMax, (row) => `${row.created_at}-${row[id]}`);
}

function positionOf(before: string): RawBuilder<unknown> {
  const end = before.indexOf('-');
  return sql`(${BigInt(before.slice(0, end))}, ${before.slice(end + 1)})`;
}

/** Builds a page from a query that fetched one row more than needed: the extra row shows whether there is a next page. */
export function toPage<Row>(rows: readonly Row[], rowsMax: number, cursorOf: (row: Row) => string): PageOf<Row> {
  const shown = rows.slice(0, rowsMax);
  const last = rows.length > rowsMax ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? undefined : cursorOf(last) };
}
