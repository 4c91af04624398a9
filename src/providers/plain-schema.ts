import { isObject, objectsOf, type JsonObject } from '../openai/types.ts';

/**
 * Returns the parameters of a function in the strict form that some hosts demand: an object at the root, a type for every
 * value but none beside alternatives, and nothing beside a reference to `$defs`. The depth is bounded because the
 * request's is.
 */
export function plainParameters(schema: JsonObject): JsonObject {
  const { $ref: reference, ...root } = plainSchema(schema);
  const definition = typeof reference === 'string' ? resolve(root, reference) : undefined;
  const choices = CHOICES.flatMap((keyword) => objectsOf(root[keyword]));
  const together = [...objectsOf(root['allOf']), ...(definition === undefined ? [] : [definition])];
  for (const keyword of [...CHOICES, 'allOf']) delete root[keyword];
  if (choices.length + together.length === 0) return { ...root, type: 'object' };
  // The root can neither be one of several objects nor be defined elsewhere, so it gets the fields of them all.
  const properties = Object.assign({}, ...[...choices, ...together, root].map((each) => each['properties'])) as JsonObject;
  const required = [...new Set([root, ...together].flatMap((each) => each['required'] ?? []))];
  return { ...root, type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
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

function plainSchema(schema: unknown, typeOfParent?: unknown): JsonObject {
  if (!isObject(schema)) return { type: 'string' };
  const { $ref: reference, type = typeOfParent } = schema;
  const isChoice = CHOICES.some((keyword) => Array.isArray(schema[keyword]));
  const plain: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const map = MAPS.get(keyword);
    if (map !== undefined && isObject(value)) plain[map] = mapValues(value);
    else if (keyword === 'items') plain[keyword] = plainItems(value);
    else if (LISTS.has(keyword) && Array.isArray(value)) plain[keyword] = value.map((branch) => plainSchema(branch, type));
    else if (keyword !== 'type' || !isChoice) plain[keyword] = value;
  }
  if (typeof reference === 'string') return writeReference(reference, plain);
  if (!isChoice && !Array.isArray(schema['allOf'])) plain['type'] ??= type ?? typeOf(schema);
  return plain;
}

function writeReference(reference: string, { $defs }: JsonObject): JsonObject {
  return { $ref: reference.replace('#/definitions/', '#/$defs/'), ...($defs === undefined ? {} : { $defs }) };
}

function mapValues(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plainSchema(schema)]));
}

/** The items of a tuple become alternatives. */
function plainItems(items: unknown): JsonObject {
  return Array.isArray(items) ? { anyOf: items.map((item) => plainSchema(item)) } : plainSchema(items);
}

function resolve({ $defs }: JsonObject, reference: string): JsonObject | undefined {
  const found = isObject($defs) ? $defs[reference.slice('#/$defs/'.length)] : undefined;
  return isObject(found) ? found : undefined;
}

/** Infers a missing type. A value that may be anything is a text. */
function typeOf({ properties, additionalProperties, required, items, enum: values, const: value }: JsonObject): string {
  if (properties !== undefined || additionalProperties !== undefined || required !== undefined) return 'object';
  if (items !== undefined) return 'array';
  const sample: unknown = value ?? (Array.isArray(values) ? values.find((each) => each !== null) : undefined);
  return typeof sample === 'number' || typeof sample === 'boolean' ? typeof sample : 'string';
}
