import type { Database, Statement } from 'bun:sqlite';
import { CompiledQuery, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, Driver, TransactionSettings } from 'kysely';
import { openSqlite } from './sqlite.ts';
import type { Tables } from './tables.ts';

/**
 * Opens the embedded database behind the query builder, for everything except the ledger's hot statements. It has its own
 * file so that the worker that writes back the log does not load the query builder.
 */
export function openKysely(path: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new EmbeddedDialect(async () => asKyselyDatabase(openSqlite(path))) });
}

/** The same for a library with its own queries, which expects integers as numbers. No money may go through it. */
export function openForeignKysely(path: string): Kysely<unknown> {
  return new Kysely<unknown>({ dialect: new EmbeddedDialect(async () => asKyselyDatabase(openSqlite(path, false))) });
}

const ROLLED_BACK_ALREADY = 'no transaction is active';

type KyselyDatabase = Exclude<ConstructorParameters<typeof SqliteDialect>[0]['database'], () => unknown>;

/** Opens the file for the first query: Kysely would never close one that no query has used. */
class EmbeddedDialect extends SqliteDialect {
  readonly #open: () => Promise<KyselyDatabase>;

  constructor(open: () => Promise<KyselyDatabase>) {
    super({ database: open });
    this.#open = open;
  }

  override createDriver(): Driver {
    return new EmbeddedDriver({ database: this.#open });
  }

  override createAdapter(): SqliteAdapter {
    return new EmbeddedAdapter();
  }
}

/** SQLite supports DDL in transactions. Knowing that, the migrator records each migration in the transaction that runs it. */
class EmbeddedAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Takes the write lock when a transaction begins, unless it is read-only. A transaction that reads first and then writes
 * fails as soon as another one has written in between, however long it would wait.
 */
class EmbeddedDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(settings?.accessMode === 'read only' ? 'begin' : 'begin immediate'));
  }

  /** After some failures, such as a full disk, SQLite has already rolled back. The original failure matters then, not this one. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(ROLLED_BACK_ALREADY))) throw error;
    }
  }
}

/** Implements the part of the better-sqlite3 interface that Kysely uses. */
function asKyselyDatabase(database: Database): KyselyDatabase {
  return {
    close: () => database.close(),
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      return {
        // Statements that return columns are read; the others are run.
        reader: statement.columnNames.length > 0,
        all: (parameters: readonly unknown[]) => finalizing(statement, () => statement.all(...(parameters as never[]))),
        iterate: (parameters: readonly unknown[]) => iterate(statement, parameters),
        run: (parameters: readonly unknown[]) => finalizing(statement, () => statement.run(...(parameters as never[]))),
      };
    },
  };
}

/** Kysely uses each statement once. An unfinalized statement keeps the file open after the database is closed, until it is collected. */
function finalizing<Result>(statement: Statement, use: () => Result): Result {
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
