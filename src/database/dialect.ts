import { sql, type Kysely, type RawBuilder } from 'kysely';

/** The two supported databases. */
export type Dialect = 'sqlite' | 'postgres';

/**
 * Runs schema statements. They are written for the embedded database; the few things PostgreSQL spells differently are
 * converted here.
 */
export async function runStatements(database: Kysely<unknown>, dialect: Dialect, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(dialect === 'sqlite' ? statement : toPostgres(statement)).execute(database);
}

/** Returns triggers that raise the counter in `changes` on every change of a table. Running servers poll that counter. */
export function raiseChangesOf(table: string, dialect: Dialect): string[] {
  if (dialect === 'postgres')
    return [
      `CREATE TRIGGER ${table}_changed AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION raise_changes()`,
    ];
  return ['INSERT', 'UPDATE', 'DELETE'].map(
    (event) =>
      `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table}
       BEGIN UPDATE changes SET counter = counter + 1; END`,
  );
}

/** Renders rows of strings and numbers as a table with one column, `value`, which holds each row's cells as a JSON array. */
export function jsonRows(dialect: Dialect, rows: readonly (readonly (string | number)[])[]): RawBuilder<unknown> {
  const json = JSON.stringify(rows);
  return dialect === 'sqlite' ? sql`json_each(${json})` : sql`jsonb_array_elements(CAST(${json} AS JSONB))`;
}

function toPostgres(statement: string): string {
  if (!/^(?:CREATE|ALTER) TABLE/.test(statement)) return statement;
  return (
    statement
      // Ids must sort by their bytes, whatever the server's locale.
      .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
      .replace(/\bINTEGER\b/g, 'BIGINT')
      .replace(/\bBLOB\b/g, 'BYTEA')
      .replace(/\) STRICT(?:, WITHOUT ROWID)?$/, ')')
  );
}
