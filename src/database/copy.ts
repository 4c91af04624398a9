import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** Tables that are specific to one database: its schema version, its nodes, and its change counter. */
const OWN_TABLES: ReadonlySet<string> = new Set(['kysely_migration', 'kysely_migration_lock', 'nodes', 'changes', 'changed_accounts']);
const BATCH_ROWS_MAX = 1000;
const BATCH_CHARACTERS_MAX = 4_000_000;

type Row = Readonly<Record<string, unknown>>;

/** Called for each table once it is copied. */
export type OnCopied = (table: string, rows: number) => void;

/**
 * Copies one snapshot of the embedded database to an empty PostgreSQL database with the same schema. Copies everything or
 * nothing.
 */
export async function copyToPostgres(from: Kysely<Tables>, to: Kysely<Tables>, onCopied: OnCopied): Promise<void> {
  const reading = from.transaction().setAccessMode('read only');
  await reading.execute((source) =>
    to.transaction().execute(async (target) => {
      await refuseOpenHolds(source);
      const tables = await tablesInOrder(source, target);
      for (const table of tables) await refuseRows(target, table);
      for (const table of tables) onCopied(table, await copyTable(source, target, table));
    }),
  );
}

/** A hold belongs to a process on the embedded database. Nothing would settle it elsewhere. */
async function refuseOpenHolds(source: Transaction<Tables>): Promise<void> {
  if (await hasRows(source, 'holds'))
    throw new Error(
      'The embedded database has holds from a server that did not shut down cleanly. Start the server on it and stop it again: that settles them.',
    );
}

async function refuseRows(target: Transaction<Tables>, table: string): Promise<void> {
  if (await hasRows(target, table))
    throw new Error(`PostgreSQL is not empty: the table ${table} has rows. Create a new database for the copy.`);
}

async function hasRows(database: Transaction<Tables>, table: string): Promise<boolean> {
  return (await sql`SELECT 1 FROM ${sql.table(table)} LIMIT 1`.execute(database)).rows.length > 0;
}

/** Orders tables so that each comes after those it references. */
async function tablesInOrder(source: Transaction<Tables>, target: Transaction<Tables>): Promise<readonly string[]> {
  const { rows: named } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`.execute(source);
  const { rows: references } = await sql<{ child: string; parent: string }>`
    SELECT child.relname AS child, parent.relname AS parent FROM pg_constraint
    JOIN pg_class child ON child.oid = conrelid JOIN pg_class parent ON parent.oid = confrelid
    WHERE contype = 'f' AND child.relnamespace = current_schema()::regnamespace`.execute(target);
  const left = new Set(named.map(({ name }) => name).filter((name) => !OWN_TABLES.has(name)));
  const ordered: string[] = [];
  while (left.size > 0) {
    const ready = [...left].filter(
      (name) => !references.some(({ child, parent }) => child === name && parent !== name && left.has(parent)),
    );
    if (ready.length === 0) throw new Error(`These tables refer to each other in a circle: ${[...left].join(', ')}`);
    for (const name of ready) left.delete(name);
    ordered.push(...ready);
  }
  return ordered;
}

async function copyTable(source: Transaction<Tables>, target: Transaction<Tables>, table: string): Promise<number> {
  let count = 0;
  let characters = 0;
  let batch: string[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await insert(target, table, `[${batch.join(',')}]`);
    count += batch.length;
    characters = 0;
    batch = [];
  };
  const rows = source
    .selectFrom(table as keyof Tables)
    .selectAll()
    .stream() as AsyncIterable<Row>;
  for await (const row of rows) {
    const text = JSON.stringify(row, toPostgresJson);
    batch.push(text);
    characters += text.length;
    if (batch.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS_MAX) await flush();
  }
  await flush();
  return count;
}

/** Lets PostgreSQL convert each value to its column's type: integers, booleans, times, bytes. */
async function insert(target: Transaction<Tables>, table: string, rows: string): Promise<void> {
  await sql`INSERT INTO ${sql.table(table)} SELECT * FROM json_populate_recordset(NULL::${sql.table(table)}, ${rows}::json)`.execute(
    target,
  );
}

/** Converts a value to JSON that PostgreSQL can read. It has no NUL character, which means nothing in text anyway. */
function toPostgresJson(this: unknown, name: string, value: unknown): unknown {
  const own = (this as Row)[name];
  if (typeof own === 'bigint') return String(own);
  if (own instanceof Uint8Array) return `\\x${Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString('hex')}`;
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
