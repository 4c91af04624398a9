import type { Kysely } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** An open database, and which of the two it is. */
export interface OpenDatabase {
  readonly kysely: Kysely<Tables>;
  readonly dialect: Dialect;
}

/** Where the database is: PostgreSQL where there is an address, else the embedded one. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
}

/**
 * Opens the database. Only the driver that is used is loaded: each takes memory of its own. On PostgreSQL a statement
 * that takes longer than `statementMs` is given up.
 */
export async function connect({ databaseUrl, databasePath }: DatabasePlace, statementMs?: number): Promise<OpenDatabase> {
  if (databaseUrl === undefined) return { kysely: (await import('./kysely.ts')).openKysely(databasePath), dialect: 'sqlite' };
  return { kysely: (await import('./postgres.ts')).openPostgresKysely(databaseUrl, statementMs), dialect: 'postgres' };
}
