import type { ColumnType } from 'kysely';

/** The embedded database returns integers as bigint. Times are milliseconds since 1970. */
export type Integer = ColumnType<bigint, bigint | number, bigint | number>;
/** Has a default in the database, so inserts may leave it out. */
export type DefaultInteger = ColumnType<bigint, bigint | number | undefined, bigint | number>;
/** May be null. Inserts that leave it out store null, as with every nullable column. */
export type OptionalInteger = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;

/** Reads a nullable integer. */
export function readOptional(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
