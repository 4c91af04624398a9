import { docs as t } from '../../strings/index.ts';
import { nameOf } from './read-document.ts';
import type { Schema } from './read-document.ts';

const WORDS_MAX = 6;

/** The type of a schema in a few words, such as `string or null`, `"auto" | "none"` or `array of Message`. */
export function describeType(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) return describeVariants(schema.anyOf);
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const named = types
    .filter((type) => type !== 'null')
    .map((type) => (type === 'array' ? t.arrayOf(describeType(schema.items ?? {})) : type));
  if (named.length === 0) return t.anything;
  return [named.join(' | '), ...(types.includes('null') ? [t.nullable] : [])].join(' ');
}

function describeVariants(variants: readonly Schema[]): string {
  const names = [...new Set(variants.filter((variant) => variant.type !== 'null').map(describeType))];
  const isNullable = variants.some((variant) => variant.type === 'null');
  const shown = names.length > WORDS_MAX ? [...names.slice(0, WORDS_MAX), '…'] : names;
  return isNullable ? `${shown.join(' | ')} ${t.nullable}` : shown.join(' | ');
}

/** What a value must keep to, such as `0 to 2` or `at most 128 items`. */
export function describeLimits(schema: Schema): string {
  return LIMITS.map(({ least, most, unit }) => describeRange(readLimit(schema[least]), readLimit(schema[most]), unit))
    .filter((words) => words !== '')
    .join(', ');
}

const LIMITS = [
  { least: 'minimum', most: 'maximum', unit: t.units.value },
  { least: 'minLength', most: 'maxLength', unit: t.units.length },
  { least: 'minItems', most: 'maxItems', unit: t.units.items },
] as const;

function describeRange(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return t.between(least, most, unit);
  if (most !== undefined) return t.atMost(most, unit);
  // That something must be there at all goes without saying.
  return least === undefined || (least === 1 && unit !== '') ? '' : t.atLeast(least, unit);
}

/** The largest numbers that a format can hold are no limit that anybody would reach. */
function readLimit(limit: unknown): number | undefined {
  return typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

/** The objects inside a schema whose fields can be shown, with the lists and alternatives around them taken off. */
export function objectsIn(schema: Schema): readonly Schema[] {
  if (schema.properties !== undefined) return [schema];
  if (schema.items !== undefined) return objectsIn(schema.items);
  return (schema.anyOf ?? []).flatMap(objectsIn);
}

/** What tells a variant from its neighbours: the values of its fixed fields. */
export function titleOf(schema: Schema, number: number): string {
  const fixed = Object.entries(schema.properties ?? {}).find(([, field]) => field.const !== undefined || field.enum !== undefined);
  return fixed === undefined ? t.variant(number) : `${fixed[0]}: ${describeType(fixed[1])}`;
}
