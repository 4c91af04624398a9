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

/** More than these in one request are refused: fields that may be missing, values of several types, and tools that are held to their schema. */
const OPTIONAL_MAX = 24;
const UNIONS_MAX = 16;
const STRICT_TOOLS_MAX = 20;
/** Grammars of one schema were seen to fail from 13 on. */
const OPTIONAL_EACH_MAX = 12;

/** The grammar of one request. All its schemas draw on the same limits, each when it is encoded. */
export class Grammar {
  readonly #isTaken: boolean;
  #optional = OPTIONAL_MAX;
  #unions = UNIONS_MAX;
  #tools = STRICT_TOOLS_MAX;

  /** `isTaken`: the model takes a grammar, where it is served. */
  constructor(isTaken: boolean) {
    this.#isTaken = isTaken;
  }

  /** The schema in the grammar; undefined where that cannot be, or would lose what the caller asked for. */
  encode(schema: JsonObject): JsonObject | undefined {
    const seen = { optional: 0, unions: 0, done: new Set<string>() };
    if (!this.#isTaken || !walk(schema, { root: schema, open: new Set(), seen })) return undefined;
    if (seen.optional > Math.min(OPTIONAL_EACH_MAX, this.#optional) || seen.unions > this.#unions) return undefined;
    this.#optional -= seen.optional;
    this.#unions -= seen.unions;
    return encodeSchema(schema);
  }

  /** The same for the arguments of a tool. One that names none has none, and is no open map. */
  encodeInput(schema: JsonObject): JsonObject | undefined {
    const encoded = this.#tools === 0 ? undefined : this.encode({ additionalProperties: false, ...schema });
    if (encoded !== undefined) this.#tools -= 1;
    return encoded;
  }
}

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
  readonly seen: { optional: number; unions: number; readonly done: Set<string> };
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
  if (Array.isArray(schema['allOf']) && schema['allOf'].some((branch) => isObject(branch) && '$ref' in branch)) return false;
  if ([schema['type'], schema['anyOf'], schema['oneOf']].some(Array.isArray)) state.seen.unions += 1;
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
