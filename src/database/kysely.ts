import type { Database, Statement } from 'bun:sqlite';
import { CompiledQuery, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, Driver, TransactionSettings } from 'kysely';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';

/**
 * The embedded database behind the query builder, for everything but the ledger's hot statements. A file of its own, so
 * that the thread that keeps the ledger's log, which needs none of it, does not load it.
 */
export function openKysely(path: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new EmbeddedDialect(asKyselyDatabase(openSqlite(path))) });
}

/** The same for a library that brings its own queries and expects integers as numbers. Nothing with money may go through it. */
export function openForeignKysely(path: string): Kysely<unknown> {
  return new Kysely<unknown>({ dialect: new EmbeddedDialect(asKyselyDatabase(openSqlite(path, false))) });
}

const ROLLED_BACK_ALREADY = 'no transaction is active';

type KyselyDatabase = ConstructorParameters<typeof SqliteDialect>[0]['database'];

class EmbeddedDialect extends SqliteDialect {
  readonly #database: KyselyDatabase;

  constructor(database: KyselyDatabase) {
    super({ database });
    this.#database = database;
  }

  override createDriver(): Driver {
    return new EmbeddedDriver({ database: this.#database });
  }

  override createAdapter(): SqliteAdapter {
    return new EmbeddedAdapter();
  }
}

/** SQLite can make and change tables in a transaction. Knowing that, the migrator writes down what it ran in the same one. */
class EmbeddedAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Takes the lock for writing where a transaction begins, unless it is said to read only: one that first reads and then
 * writes is refused when anybody else has written in between, however long it would wait.
 */
class EmbeddedDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'));
  }

  /** After some failures, such as a full disk, SQLite has rolled back already: then that failure is the news, and not this one. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(ROLLED_BACK_ALREADY))) throw error;
    }
  }
}

/** Kysely speaks to the interface of better-sqlite3; this is the part of it that Kysely uses. */
function asKyselyDatabase(database: Database): KyselyDatabase {
  return {
    close: () => database.close(),
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      return {
        // Statements that return columns are read; the others are run.
        reader: statement.columnNames.length > 0,
        all: (parameters: readonly unknown[]) => ending(statement, () => statement.all(...(parameters as never[]))),
        iterate: (parameters: readonly unknown[]) => iterate(statement, parameters),
        run: (parameters: readonly unknown[]) => ending(statement, () => statement.run(...(parameters as never[]))),
      };
    },
  };
}

/** Kysely uses a statement once. One that is not ended keeps the file open after the database is closed, until it is collected. */
function ending<Result>(statement: Statement, use: () => Result): Result {
  try {
    return use();
  } finally {
    statement.finalize();
  }
}

function* iterate(statement: Statement, parameters: readonly unknown[]): Generator {
  try {
    yield* statement.iterate(...(parameters as never[]));
  } finally {
    statement.finalize();
  }
}
