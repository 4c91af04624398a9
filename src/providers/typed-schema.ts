import { isObject, type JsonObject } from '../openai/types.ts';
import { flattenRoot, resolveReference } from './root-union.ts';

/**
 * Returns the parameters of a function in the strict form that some hosts demand: an object at the root, a type for every
 * value but none beside alternatives, and nothing beside a reference to `$defs`. The depth is bounded because the
 * request's is.
 */
export function typedParameters(schema: JsonObject): JsonObject {
  const { $ref: reference, ...root } = schema;
  const definition = typeof reference === 'string' ? resolveReference(schema, reference) : undefined;
  return { ...typedSchema(flattenRoot({ ...definition, ...root })), type: 'object' };
}

const CHOICES = ['anyOf', 'oneOf'];
const LISTS: ReadonlySet<string> = new Set([...CHOICES, 'allOf']);
/** Keywords that hold schemas by name, and their names in the strict form. */
const MAPS: ReadonlyMap<string, string> = new Map([
  ['properties', 'properties'],
  ['patternProperties', 'patternProperties'],
  ['$defs', '$defs'],
  ['definitions', '$defs'],
]);

function typedSchema(schema: unknown, typeOfParent?: unknown): JsonObject {
  if (!isObject(schema)) return { type: 'string' };
  const { $ref: reference, type = typeOfParent } = schema;
  const isChoice = CHOICES.some((keyword) => Array.isArray(schema[keyword]));
  const typed: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const map = MAPS.get(keyword);
    if (map !== undefined && isObject(value)) typed[map] = mapValues(value);
    else if (keyword === 'items') typed[keyword] = typedItems(value);
    else if (LISTS.has(keyword) && Array.isArray(value)) typed[keyword] = value.map((branch) => typedSchema(branch, type));
    else if (keyword !== 'type' || !isChoice) typed[keyword] = value;
  }
  if (typeof reference === 'string') return writeReference(reference, typed);
  if (!isChoice && !Array.isArray(schema['allOf'])) typed['type'] ??= type ?? typeOf(schema);
  return typed;
}

function writeReference(reference: string, { $defs }: JsonObject): JsonObject {
  return { $ref: reference.replace('#/definitions/', '#/$defs/'), ...($defs === undefined ? {} : { $defs }) };
}

function mapValues(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, typedSchema(schema)]));
}

/** The items of a tuple become alternatives. */
function typedItems(items: unknown): JsonObject {
  return Array.isArray(items) ? { anyOf: items.map((item) => typedSchema(item)) } : typedSchema(items);
}

/** Infers a missing type. A value that may be anything is a text. */
function typeOf({ properties, additionalProperties, required, items, enum: values, const: value }: JsonObject): string {
  if (properties !== undefined || additionalProperties !== undefined || required !== undefined) return 'object';
  if (items !== undefined) return 'array';
  const sample: unknown = value ?? (Array.isArray(values) ? values.find((each) => each !== null) : undefined);
  return typeof sample === 'number' || typeof sample === 'boolean' ? typeof sample : 'string';
}
