import { isObject, type JsonObject } from '../openai/types.ts';

/** Keywords that only describe, and whether more fields are allowed, which the parts of a whole cannot say each for itself. */
const UNCOMPARED: ReadonlySet<string> = new Set(
  'title description default examples deprecated readOnly writeOnly $comment $schema $id $anchor additionalProperties'.split(' '),
);

/** A schema, and whether it says all that the parts said. Where they disagree, the last one counts. */
export interface MergedSchema {
  readonly schema: JsonObject;
  readonly isExact: boolean;
}

/** Merges schemas that describe one value. In a single pass: a request may hold very many parts, and copying the result for each would take hours. */
export function mergeSchemas(parts: readonly JsonObject[]): MergedSchema {
  const merged = new Map<string, unknown>();
  const fields = new Map<string, Map<string, unknown>>();
  const required = new Set<unknown>();
  let isExact = true;
  for (const [keyword, value] of parts.flatMap((part) => Object.entries(part))) {
    if (keyword === 'properties' && isObject(value)) for (const name in value) addField(fields, name, value[name]);
    else if (keyword === 'required' && Array.isArray(value)) for (const name of value) required.add(name);
    else if (merged.has(keyword) && !UNCOMPARED.has(keyword)) isExact &&= JSON.stringify(merged.get(keyword)) === JSON.stringify(value);
    merged.set(keyword, value);
  }
  if (fields.size > 0) merged.set('properties', Object.fromEntries([...fields].map(([name, all]) => [name, joinField([...all.values()])])));
  if (required.size > 0) merged.set('required', [...required]);
  return { schema: Object.fromEntries(merged), isExact };
}

/** Merges the parts of `allOf` into the schema around them. References are not followed. */
export function mergeAllOf(schema: JsonObject): MergedSchema {
  if (!Array.isArray(schema['allOf'])) return { schema, isExact: true };
  const parts = partsOf(schema);
  const merged = mergeSchemas(parts);
  return { ...merged, isExact: merged.isExact && parts.every((part) => part['$ref'] === undefined) };
}

function partsOf({ allOf, ...rest }: JsonObject): JsonObject[] {
  return [...(Array.isArray(allOf) ? allOf.filter(isObject).flatMap(partsOf) : []), rest];
}

function addField(fields: Map<string, Map<string, unknown>>, name: string, schema: unknown): void {
  const schemas = fields.get(name) ?? new Map<string, unknown>();
  fields.set(name, schemas.set(JSON.stringify(schema), schema));
}

/** What different parts say about one field holds together. */
function joinField(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { allOf: schemas };
}
