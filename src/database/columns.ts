import type { ColumnType } from 'kysely';

/** The embedded database returns integers as bigint. Times are milliseconds since 1970. */
export type Integer = ColumnType<bigint, bigint | number, bigint | number>;
/** Has a default in the database, so inserts may leave it out. */
export type DefaultInteger = ColumnType<bigint, bigint | number | undefined, bigint | number>;
/** May be null, but inserts must name it. */
export type OptionalInteger = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;
/** Filled in after the row is created, or never. */
export type LaterInteger = ColumnType<bigint | null, bigint | number | null | undefined, bigint | number | null>;
/** The same for text. */
export type LaterText<Text extends string = string> = ColumnType<Text | null, Text | null | undefined, Text | null>;
