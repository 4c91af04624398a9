import { isObject, type JsonObject } from '../../openai/types.ts';
import { mergeAllOf } from '../merge-schemas.ts';
import { resolveReference } from '../root-union.ts';

/**
 * Converts a schema for the provider's grammar. Unsupported constraints move into the description, where the model at
 * least sees them. Objects are closed, because open ones are refused.
 */
export function encodeSchema(given: JsonObject): JsonObject {
  // Each part would become a closed object, and no value can be all of them.
  const { schema } = mergeAllOf(given);
  // A reference must not have siblings.
  if (typeof schema['$ref'] === 'string') return { $ref: schema['$ref'], ...encodeDefinitions(schema) };
  const encoded: JsonObject = { ...encodeDefinitions(schema) };
  const advice: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword)) encoded[keyword] = value;
    else if (keyword === 'format' && FORMATS.has(value)) encoded[keyword] = value;
    else if (keyword === 'properties' && isObject(value)) encoded[keyword] = mapValues(value);
    else if (keyword === 'items' && isObject(value)) encoded[keyword] = encodeSchema(value);
    else if (COMBINED.has(keyword) && Array.isArray(value)) combine(encoded, value);
    else if (!IGNORED.has(keyword)) advice.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (describesObject(schema)) encoded['additionalProperties'] = false;
  if (advice.length > 0) {
    const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
    encoded['description'] = `${said}(${advice.join(', ')})`;
  }
  return encoded;
}

/** The most a request may contain: optional fields, unions of types, and strict tools. More are refused. */
const OPTIONAL_MAX = 24;
const UNIONS_MAX = 16;
const STRICT_TOOLS_MAX = 20;
/** A single schema has been observed to fail from 13 optional fields on. */
const OPTIONAL_EACH_MAX = 12;

/** The grammar of one request. All its schemas share the same limits, in the order they are encoded. */
export class Grammar {
  readonly #isSupported: boolean;
  #optional = OPTIONAL_MAX;
  #unions = UNIONS_MAX;
  #tools = STRICT_TOOLS_MAX;

  /** `isSupported`: whether the model supports a grammar on this platform. */
  constructor(isSupported: boolean) {
    this.#isSupported = isSupported;
  }

  /** Returns the schema for the grammar, or undefined if that is impossible or would lose part of what the caller asked for. */
  encode(schema: JsonObject): JsonObject | undefined {
    const seen = { optional: 0, unions: 0, done: new Set<string>() };
    if (!this.#isSupported || !walk(schema, { root: schema, open: new Set(), seen })) return undefined;
    if (seen.optional > Math.min(OPTIONAL_EACH_MAX, this.#optional) || seen.unions > this.#unions) return undefined;
    this.#optional -= seen.optional;
    this.#unions -= seen.unions;
    return encodeSchema(schema);
  }

  /** Does the same for tool arguments. A schema without properties means no arguments, not an open map. */
  encodeInput(schema: JsonObject): JsonObject | undefined {
    const encoded = this.#tools === 0 ? undefined : this.encode({ additionalProperties: false, ...schema });
    if (encoded !== undefined) this.#tools -= 1;
    return encoded;
  }
}

const KEPT = new Set(['type', 'enum', 'const', 'required', 'default', 'title', 'description']);
const COMBINED = new Set(['anyOf', 'oneOf']);
/** Keywords handled elsewhere, or that describe the schema rather than the value. */
const IGNORED = new Set(
  '$defs definitions additionalProperties $schema $id $comment $anchor examples deprecated readOnly writeOnly strict'.split(' '),
);
const FORMATS: ReadonlySet<unknown> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** The grammar has no "exactly one of". A schema with both keywords keeps all branches. */
function combine(encoded: JsonObject, branches: readonly unknown[]): void {
  const before = Array.isArray(encoded['anyOf']) ? encoded['anyOf'] : [];
  encoded['anyOf'] = [...before, ...branches.filter(isObject).map(encodeSchema)];
}

function encodeDefinitions(schema: JsonObject): JsonObject {
  const parts = ['$defs', 'definitions'].flatMap((name) => (isObject(schema[name]) ? [[name, mapValues(schema[name])] as const] : []));
  return Object.fromEntries(parts);
}

function mapValues(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, isObject(inner) ? encodeSchema(inner) : inner]));
}

function describesObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties);
}

interface Walk {
  readonly root: JsonObject;
  /** References being followed: meeting one again means recursion. */
  readonly open: Set<string>;
  /** Totals so far. Each definition is visited once; otherwise a few nested references could take hours. */
  readonly seen: { optional: number; unions: number; readonly done: Set<string> };
}

function walk(given: JsonObject, state: Walk): boolean {
  const { schema, isExact } = mergeAllOf(given);
  if (!isExact) return false;
  const { $ref: reference, properties, patternProperties, items, additionalProperties } = schema;
  // A closed object would turn a map with arbitrary keys into an empty one.
  if (additionalProperties === true || isObject(additionalProperties) || isObject(patternProperties)) return false;
  if (typeof reference === 'string') return follow(reference, state);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = isObject(properties) ? Object.entries(properties) : [];
  // An object that names no fields and does not forbid them is such a map.
  if (fields.length === 0 && additionalProperties !== false && describesObject(schema)) return false;
  if ([schema['type'], schema['anyOf'], schema['oneOf']].some(Array.isArray)) state.seen.unions += 1;
  state.seen.optional += fields.filter(([name]) => !required.has(name)).length;
  const inner = [...fields.map(([, value]) => value), items, ...[...COMBINED].flatMap((name) => schema[name])];
  return inner.filter(isObject).every((value) => walk(value, state));
}

function follow(reference: string, state: Walk): boolean {
  if (state.open.has(reference)) return false;
  if (state.seen.done.has(reference)) return true;
  const target = resolveReference(state.root, reference);
  // The walk stops at the first part that cannot be expressed, so an open entry left behind is harmless.
  state.open.add(reference);
  if (target === undefined || !walk(target, state)) return false;
  state.open.delete(reference);
  state.seen.done.add(reference);
  return true;
}
