import type { ColumnType } from 'kysely';

/** Integers come back as bigint from the embedded database; times are milliseconds since 1970. */
export type Integer = ColumnType<bigint, bigint | number, bigint | number>;
export type DefaultInteger = ColumnType<bigint, bigint | number | undefined, bigint | number>;
export type OptionalInteger = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;
/** One that is filled in after its row is made, or never. */
export type LaterInteger = ColumnType<bigint | null, bigint | number | null | undefined, bigint | number | null>;
export type LaterText<Text extends string = string> = ColumnType<Text | null, Text | null | undefined, Text | null>;
