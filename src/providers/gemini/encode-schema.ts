import { isObject, objectOf, type JsonObject } from '../../openai/types.ts';
import { lookUp } from '../look-up.ts';

/** A schema in the subset Google supports, and the constraints that were lost. */
export interface EncodedSchema {
  readonly schema: JsonObject;
  readonly lost: readonly string[];
}

/** A schema whose `maxItems` add up to more than about this is refused without an explanation. */
const ITEMS_SUM_MAX = 960;

/** Converts a JSON schema to the subset. Its depth is bounded because the request's is. */
export function encodeSchema(schema: JsonObject): EncodedSchema {
  const walk: Walk = { lost: new Set(), itemsSum: 0, keepsMaxItems: true };
  const encoded = encodeNode(schema, walk);
  if (walk.itemsSum <= ITEMS_SUM_MAX) return { schema: encoded, lost: [...walk.lost] };
  walk.lost.add('maxItems');
  return { schema: encodeNode(schema, { ...walk, keepsMaxItems: false }), lost: [...walk.lost] };
}

interface Walk {
  readonly lost: Set<string>;
  itemsSum: number;
  readonly keepsMaxItems: boolean;
}

type Encode = (value: unknown, walk: Walk) => unknown;

const keep: Encode = (value) => value;
const one: Encode = (value, walk) => (isObject(value) ? encodeNode(value, walk) : value);
const list: Encode = (value, walk) => (Array.isArray(value) ? value.map((item) => one(item, walk)) : undefined);
const map: Encode = (value, walk) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, one(item, walk)])) : undefined;

/** The supported keywords. Google reads `oneOf` as `anyOf`. */
const KEYWORDS: Readonly<Record<string, Encode>> = {
  $id: keep,
  $anchor: keep,
  $defs: map,
  type: keep,
  format: keep,
  title: keep,
  description: keep,
  items: one,
  prefixItems: list,
  minItems: keep,
  maxItems: (value, walk) => {
    if (typeof value === 'number') walk.itemsSum += value;
    return walk.keepsMaxItems ? value : undefined;
  },
  minimum: keep,
  maximum: keep,
  anyOf: list,
  oneOf: list,
  properties: map,
  additionalProperties: one,
  required: keep,
  propertyOrdering: keep,
};

/** Keywords whose loss admits values the caller wanted to exclude. All others only describe. */
const CONSTRAINTS: ReadonlySet<string> = new Set(
  `pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf uniqueItems contains minContains maxContains
  minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas dependencies not if then else
  unevaluatedItems unevaluatedProperties additionalItems`.split(/\s+/),
);

/** Supported keywords that also constrain, and are lost next to a reference. */
const LOST_BESIDE_REFERENCE: ReadonlySet<string> = new Set(
  'properties required items anyOf oneOf enum const minimum maximum minItems maxItems'.split(' '),
);

function encodeNode(node: JsonObject, walk: Walk): JsonObject {
  const source = mergeAllOf(node, walk);
  // A reference may only have siblings that start with `$`.
  if (typeof source['$ref'] === 'string') {
    const { $ref, $defs, definitions } = source;
    for (const keyword of Object.keys(source)) if (CONSTRAINTS.has(keyword) || LOST_BESIDE_REFERENCE.has(keyword)) walk.lost.add(keyword);
    const defs = map($defs ?? definitions, walk);
    return { $ref: renameReference($ref), ...(defs === undefined ? {} : { $defs: defs }) };
  }
  const encoded: JsonObject = {};
  for (const [keyword, value] of Object.entries(source)) {
    const result = lookUp(KEYWORDS, keyword)?.(value, walk);
    if (result !== undefined) encoded[keyword] = result;
    else if (CONSTRAINTS.has(keyword)) walk.lost.add(keyword);
  }
  if (source['definitions'] !== undefined) encoded['$defs'] = map(source['definitions'], walk);
  return { ...encoded, ...encodeValues(source, walk) };
}

/** Old drafts keep definitions under another name. */
function renameReference(reference: string): string {
  return reference.replace(/^#\/definitions\//, '#/$defs/');
}

/** Encodes fixed values. Only strings and numbers are supported. `const` becomes an enumeration of one. */
function encodeValues(source: JsonObject, walk: Walk): JsonObject {
  const values: unknown = 'const' in source ? [source['const']] : source['enum'];
  if (!Array.isArray(values)) return {};
  const [supported, others] = [values.filter(isSupported), values.filter((value) => !isSupported(value))];
  if (others.some((value) => value !== null)) walk.lost.add('enum');
  const types = [...new Set(values.map(typeOf))];
  const type = source['type'] ?? (types.length === 1 ? types[0] : types);
  // If one value cannot be listed, a list of the others would exclude it, so only the type is kept.
  if (supported.length === 0 || others.some((value) => value !== null)) return { type };
  if (others.length === 0) return { type, enum: supported };
  const supportedTypes = types.filter((name) => name !== 'null');
  // The type moves into the alternatives, one of which is `null`.
  return {
    type: undefined,
    anyOf: [{ type: supportedTypes.length === 1 ? supportedTypes[0] : supportedTypes, enum: supported }, { type: 'null' }],
  };
}

function isSupported(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Merges the parts of `allOf`, which Google does not support. They all describe one value. */
function mergeAllOf(node: JsonObject, walk: Walk): JsonObject {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf)) return node;
  const parts = allOf.filter(isObject).map((part) => mergeAllOf(part, walk));
  // A reference cannot be merged: it stands alone, and the rest is lost.
  const reference = parts.find((part) => typeof part['$ref'] === 'string');
  if (reference !== undefined && parts.length > 1) walk.lost.add('allOf');
  if (reference !== undefined) return { ...rest, ...reference };
  return mergeParts([...parts, rest]);
}

/** Merges in a single pass: a request may hold very many parts, and copying the result for each would take hours. */
function mergeParts(parts: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, unknown>();
  const properties = new Map<string, unknown>();
  const required = new Set<unknown>();
  for (const part of parts) {
    for (const [keyword, value] of Object.entries(part)) merged.set(keyword, value);
    for (const [name, value] of Object.entries(objectOf(part['properties']))) properties.set(name, value);
    for (const name of asList(part['required'])) required.add(name);
  }
  if (properties.size > 0) merged.set('properties', Object.fromEntries(properties));
  if (required.size > 0) merged.set('required', [...required]);
  return Object.fromEntries(merged);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
