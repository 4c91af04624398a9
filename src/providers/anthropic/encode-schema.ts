import { isObject, type JsonObject } from '../../openai/types.ts';

/**
 * A schema as the provider's grammar takes it. Constraints that the grammar does not know move into the description,
 * where the model at least reads them; objects are closed, because open ones are refused.
 */
export function encodeSchema(schema: JsonObject): JsonObject {
  // Whatever stands beside a reference is refused.
  if (typeof schema['$ref'] === 'string') return { $ref: schema['$ref'], ...encodeDefinitions(schema) };
  const encoded: JsonObject = { ...encodeDefinitions(schema) };
  const advice: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword)) encoded[keyword] = value;
    else if (keyword === 'format' && FORMATS.has(String(value))) encoded[keyword] = value;
    else if (keyword === 'properties' && isObject(value)) encoded[keyword] = mapValues(value);
    else if (keyword === 'items' && isObject(value)) encoded[keyword] = encodeSchema(value);
    else if (COMBINED.has(keyword) && Array.isArray(value)) combine(encoded, keyword, value);
    else if (!SILENT.has(keyword)) advice.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (describesObject(schema)) encoded['additionalProperties'] = false;
  if (advice.length > 0) {
    const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
    encoded['description'] = `${said}(${advice.join(', ')})`;
  }
  return encoded;
}

/** Whether the grammar can be built from it at all, and without losing what the caller asked for. */
export function isExpressible(schema: JsonObject): boolean {
  const seen = { optional: 0, done: new Set<string>() };
  return walk(schema, { root: schema, open: new Set(), seen }) && seen.optional <= OPTIONAL_MAX;
}

/** Above 24 the provider refuses; grammars were seen to fail from 13 on. */
const OPTIONAL_MAX = 12;

const KEPT = new Set(['type', 'enum', 'const', 'required', 'default', 'title', 'description']);
const COMBINED = new Set(['anyOf', 'oneOf', 'allOf']);
/** Said elsewhere, or about the schema and not about the value. */
const SILENT = new Set(
  '$defs definitions additionalProperties $schema $id $comment $anchor examples deprecated readOnly writeOnly strict'.split(' '),
);
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

function combine(encoded: JsonObject, keyword: string, branches: readonly unknown[]): void {
  // The grammar knows no "exactly one of"; a schema that has both keywords keeps all branches.
  const name = keyword === 'oneOf' ? 'anyOf' : keyword;
  const before = Array.isArray(encoded[name]) ? encoded[name] : [];
  encoded[name] = [...before, ...branches.filter(isObject).map(encodeSchema)];
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
  /** References that are being followed: meeting one again is recursion. */
  readonly open: Set<string>;
  /** What was found so far. A definition is looked into once, or a few lines could keep us busy for hours. */
  readonly seen: { optional: number; readonly done: Set<string> };
}

function walk(schema: JsonObject, state: Walk): boolean {
  const { $ref: reference, properties, patternProperties, items, additionalProperties } = schema;
  // A map of any names would come back empty from a closed object.
  if (additionalProperties === true || isObject(additionalProperties) || isObject(patternProperties)) return false;
  if (typeof reference === 'string') return follow(reference, state);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = isObject(properties) ? Object.entries(properties) : [];
  // An object that names no fields, and does not forbid them, is such a map.
  if (fields.length === 0 && additionalProperties !== false && describesObject(schema)) return false;
  state.seen.optional += fields.filter(([name]) => !required.has(name)).length;
  const inner = [...fields.map(([, value]) => value), items, ...[...COMBINED].flatMap((name) => schema[name])];
  return inner.filter(isObject).every((value) => walk(value, state));
}

function follow(reference: string, state: Walk): boolean {
  if (state.open.has(reference)) return false;
  if (state.seen.done.has(reference)) return true;
  const target = resolve(state.root, reference);
  // Nothing is looked at any more after the first place that cannot be expressed, so what is open then may stay so.
  state.open.add(reference);
  if (target === undefined || !walk(target, state)) return false;
  state.open.delete(reference);
  state.seen.done.add(reference);
  return true;
}

/** What a reference such as `#/$defs/node` points at; undefined for one that leads out of the schema or to its own root. */
function resolve(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const step of reference.slice(2).split('/'))
    value = isObject(value) ? value[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return isObject(value) ? value : undefined;
}
