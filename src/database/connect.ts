import type { Kysely } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** An open database and its dialect. */
export interface OpenDatabase {
  readonly kysely: Kysely<Tables>;
  readonly dialect: Dialect;
}

/** Where the database is: PostgreSQL if there is an address, otherwise the embedded one. */
export interface DatabasePlace {
  readonly databaseUrl: string | undefined;
  readonly databasePath: string;
}

/**
 * Opens the database. Loads only the driver it needs, because each takes memory. On PostgreSQL, statements are cancelled after
 * `statementMs`.
 */
export async function connect({ databaseUrl, databasePath }: DatabasePlace, statementMs?: number): Promise<OpenDatabase> {
  if (databaseUrl === undefined) return { kysely: (await import('./kysely.ts')).openKysely(databasePath), dialect: 'sqlite' };
  return { kysely: (await import('./postgres.ts')).openPostgresKysely(databaseUrl, statementMs), dialect: 'postgres' };
}
