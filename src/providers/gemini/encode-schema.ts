import { isObject, type JsonObject } from '../../openai/types.ts';
import { lookUp } from '../look-up.ts';
import { mergeSchemas } from '../merge-schemas.ts';
import { resolveReference } from '../root-union.ts';

/** A schema in the subset Google supports, and the constraints that were lost. */
export interface EncodedSchema {
  readonly schema: JsonObject;
  readonly lost: readonly string[];
}

/** A schema whose `maxItems` add up to more than about this is refused without an explanation. */
const ITEMS_SUM_MAX = 960;
/** How many references are written out, and how many inside of each other: a few that double would fill the memory. */
const INLINED_MAX = 1000;
const INLINED_DEPTH_MAX = 16;

/** Converts a JSON schema to the subset. Its depth is bounded because the request's is. */
export function encodeSchema(schema: JsonObject): EncodedSchema {
  const walk: Walk = { lost: new Set(), itemsSum: 0, keepsMaxItems: true, root: schema, open: new Set(), inlined: 0 };
  const encoded = encodeNode(schema, walk);
  if (walk.itemsSum <= ITEMS_SUM_MAX) return { schema: encoded, lost: [...walk.lost] };
  walk.lost.add('maxItems');
  return { schema: encodeNode(schema, { ...walk, keepsMaxItems: false, inlined: 0 }), lost: [...walk.lost] };
}

interface Walk {
  readonly lost: Set<string>;
  itemsSum: number;
  readonly keepsMaxItems: boolean;
  readonly root: JsonObject;
  /** References being written out: meeting one again means recursion. */
  readonly open: Set<string>;
  /** How many were written out. */
  inlined: number;
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
  $defs: encodeDefinitions,
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

/** Encodes definitions on their own: they are not inside of what was written out. */
function encodeDefinitions(value: unknown, walk: Walk): unknown {
  const open = [...walk.open];
  walk.open.clear();
  const encoded = map(value, walk);
  for (const reference of open) walk.open.add(reference);
  return encoded;
}

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

function isLostBesideReference(keyword: string): boolean {
  return CONSTRAINTS.has(keyword) || LOST_BESIDE_REFERENCE.has(keyword);
}

function encodeNode(node: JsonObject, walk: Walk): JsonObject {
  const { schema, references } = mergeAllOf(node, walk);
  for (const reference of references) walk.open.add(reference);
  const encoded = encodeMerged(schema, walk);
  for (const reference of references) walk.open.delete(reference);
  return encoded;
}

/** A schema without `allOf`, and the references written out in it. */
interface Inlined {
  readonly schema: JsonObject;
  readonly references: readonly string[];
}

function encodeMerged(source: JsonObject, walk: Walk): JsonObject {
  // A reference may only have siblings that start with `$`.
  if (typeof source['$ref'] === 'string') {
    const { $ref, $defs, definitions } = source;
    for (const keyword of Object.keys(source)) if (isLostBesideReference(keyword)) walk.lost.add(keyword);
    const defs = encodeDefinitions($defs ?? definitions, walk);
    return { $ref: renameReference($ref), ...(defs === undefined ? {} : { $defs: defs }) };
  }
  const encoded: JsonObject = {};
  for (const [keyword, value] of Object.entries(source)) {
    const result = lookUp(KEYWORDS, keyword)?.(value, walk);
    if (result !== undefined) encoded[keyword] = result;
    else if (CONSTRAINTS.has(keyword)) walk.lost.add(keyword);
  }
  if (source['definitions'] !== undefined) encoded['$defs'] = encodeDefinitions(source['definitions'], walk);
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

/**
 * Merges the parts of `allOf`, which Google does not support. They all describe one value. References to other parts are written out,
 * unless that would not end: then one of them stands alone, because nothing may stand beside it.
 */
function mergeAllOf(node: JsonObject, walk: Walk): Inlined {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf)) return { schema: node, references: [] };
  const [first, ...others] = allOf.filter(isObject);
  if (first !== undefined && others.length === 0 && isReference(first) && !Object.keys(rest).some(isLostBesideReference))
    return { schema: { ...rest, ...first }, references: [] };
  const references = new Set<string>();
  const parts = [...(first === undefined ? [] : [first, ...others]), rest].flatMap((part) => partsOf(part, references, walk));
  const reference = parts.find(isReference);
  const { schema, isExact } = mergeSchemas(parts);
  if (reference !== undefined || !isExact) walk.lost.add('allOf');
  return { schema: reference === undefined ? schema : { ...rest, ...reference }, references: [...references] };
}

/** Returns the parts of a part: its own `allOf`, and what it refers to. */
function partsOf({ allOf, ...part }: JsonObject, references: Set<string>, walk: Walk): JsonObject[] {
  const inner = Array.isArray(allOf) ? allOf.filter(isObject).flatMap((each) => partsOf(each, references, walk)) : [];
  const { $ref: reference, ...beside } = part;
  if (typeof reference !== 'string') return [...inner, part];
  if (references.has(reference)) return [...inner, beside];
  const target = mayInline(reference, walk) ? resolveReference(walk.root, reference) : undefined;
  if (target === undefined) return [...inner, part];
  walk.inlined += 1;
  references.add(reference);
  const { $defs: _, definitions: __, ...written } = target;
  return [...inner, ...partsOf(written, references, walk), beside];
}

function mayInline(reference: string, { open, inlined }: Walk): boolean {
  return !open.has(reference) && open.size < INLINED_DEPTH_MAX && inlined < INLINED_MAX;
}

function isReference({ $ref: reference }: JsonObject): boolean {
  return typeof reference === 'string';
}
