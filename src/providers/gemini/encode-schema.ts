import { isObject, objectOf, type JsonObject } from '../../openai/types.ts';

/** A schema in the subset that Google reads, and which constraints of the caller's are not in it. */
export interface EncodedSchema {
  readonly schema: JsonObject;
  readonly lost: readonly string[];
}

/** Above about this many in total, a schema is refused without a word about why. */
const ITEMS_SUM_MAX = 960;

/** Puts a JSON schema into the subset. The depth is bounded, because the request's is. */
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

/** The keywords of the subset. `oneOf` is read as `anyOf`. */
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

/** Keywords whose loss lets values through that the caller did not want. All others only describe. */
const CONSTRAINTS: ReadonlySet<string> = new Set(
  `pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf uniqueItems contains minContains maxContains
  minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas dependencies not if then else
  unevaluatedItems unevaluatedProperties additionalItems`.split(/\s+/),
);

/** Keywords of the subset that constrain as well, and are lost beside a reference. */
const LOST_BESIDE: ReadonlySet<string> = new Set(
  'properties required items anyOf oneOf enum const minimum maximum minItems maxItems'.split(' '),
);

function encodeNode(node: JsonObject, walk: Walk): JsonObject {
  const source = mergeAllOf(node, walk);
  // A reference may have no neighbours but those that begin with `$`.
  if (typeof source['$ref'] === 'string') {
    const { $ref, $defs, definitions } = source;
    for (const keyword of Object.keys(source)) if (CONSTRAINTS.has(keyword) || LOST_BESIDE.has(keyword)) walk.lost.add(keyword);
    const defs = map($defs ?? definitions, walk);
    return { $ref: renameReference($ref), ...(defs === undefined ? {} : { $defs: defs }) };
  }
  const encoded: JsonObject = {};
  for (const [keyword, value] of Object.entries(source)) {
    const result = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword]?.(value, walk) : undefined;
    if (result !== undefined) encoded[keyword] = result;
    else if (CONSTRAINTS.has(keyword)) walk.lost.add(keyword);
  }
  if (source['definitions'] !== undefined) encoded['$defs'] = map(source['definitions'], walk);
  return { ...encoded, ...encodeValues(source, walk) };
}

/** Old drafts keep their definitions under another name. */
function renameReference(reference: string): string {
  return reference.replace(/^#\/definitions\//, '#/$defs/');
}

/** Of fixed values only texts and numbers are taken; `const` is an enumeration of one. */
function encodeValues(source: JsonObject, walk: Walk): JsonObject {
  const values: unknown = 'const' in source ? [source['const']] : source['enum'];
  if (!Array.isArray(values)) return {};
  const [taken, others] = [values.filter(isTaken), values.filter((value) => !isTaken(value))];
  if (others.some((value) => value !== null)) walk.lost.add('enum');
  const types = [...new Set(values.map(typeOf))];
  const type = source['type'] ?? (types.length === 1 ? types[0] : types);
  // With a value that cannot be listed, a list of the others would forbid it: then the type alone must do.
  if (taken.length === 0 || others.some((value) => value !== null)) return { type };
  if (others.length === 0) return { type, enum: taken };
  const takenTypes = types.filter((name) => name !== 'null');
  // The type moves into the alternatives, of which `null` is one.
  return { type: undefined, anyOf: [{ type: takenTypes.length === 1 ? takenTypes[0] : takenTypes, enum: taken }, { type: 'null' }] };
}

function isTaken(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** `allOf` is unknown to Google. Its parts describe one value, so they are laid on top of each other. */
function mergeAllOf(node: JsonObject, walk: Walk): JsonObject {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf)) return node;
  const parts = allOf.filter(isObject).map((part) => mergeAllOf(part, walk));
  // A reference cannot be laid on top of anything: it stands alone, and the rest is lost.
  const reference = parts.find((part) => typeof part['$ref'] === 'string');
  if (reference !== undefined && parts.length > 1) walk.lost.add('allOf');
  if (reference !== undefined) return { ...rest, ...reference };
  return layOnTop([...parts, rest]);
}

/** In one pass: a caller may send as many parts as fit into a request, and to copy what is there for each would take hours. */
function layOnTop(parts: readonly JsonObject[]): JsonObject {
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
