import { docs as t } from '../../strings/index.ts';
import { nameOf } from './read-document.ts';
import type { Schema } from './read-document.ts';

const VARIANTS_MAX = 6;

/** Describes the type of a schema, such as `string or null`, `"auto" | "none"` or `array of Message`. */
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
  const shown = names.length > VARIANTS_MAX ? [...names.slice(0, VARIANTS_MAX), '…'] : names;
  return isNullable ? `${shown.join(' | ')} ${t.nullable}` : shown.join(' | ');
}

/** Describes the limits of a value, such as `0 to 2` or `at most 128 items`. */
export function describeLimits(schema: Schema): string {
  return LIMITS.map(({ min, max, unit }) => describeRange(readLimit(schema[min]), readLimit(schema[max]), unit))
    .filter((words) => words !== '')
    .join(', ');
}

const LIMITS = [
  { min: 'minimum', max: 'maximum', unit: t.units.value },
  { min: 'minLength', max: 'maxLength', unit: t.units.length },
  { min: 'minItems', max: 'maxItems', unit: t.units.items },
] as const;

function describeRange(min: number | undefined, max: number | undefined, unit: string): string {
  if (min !== undefined && max !== undefined) return t.between(min, max, unit);
  if (max !== undefined) return t.atMost(max, unit);
  // A minimum length of 1 goes without saying.
  return min === undefined || (min === 1 && unit !== '') ? '' : t.atLeast(min, unit);
}

/** Reads a limit. The largest safe integers are technical bounds, not limits worth showing. */
function readLimit(limit: unknown): number | undefined {
  return typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

/** Returns the objects inside a schema whose fields can be shown, unwrapping arrays and alternatives. */
export function objectsIn(schema: Schema): readonly Schema[] {
  if (schema.properties !== undefined) return [schema];
  if (schema.items !== undefined) return objectsIn(schema.items);
  return (schema.anyOf ?? []).flatMap(objectsIn);
}

/** Returns the title of a variant: the values of its first fixed field, which distinguish it from the others. */
export function titleOf(schema: Schema, number: number): string {
  const fixed = Object.entries(schema.properties ?? {}).find(([, field]) => field.const !== undefined || field.enum !== undefined);
  return fixed === undefined ? t.variant(number) : `${fixed[0]}: ${describeType(fixed[1])}`;
}
