import { isObject, objectOf, type JsonObject } from '../openai/types.ts';

/** Keywords that some models refuse at the top of a tool's schema, though not below it. */
const KEYWORDS = ['anyOf', 'oneOf', 'allOf'] as const;

/** How deep branches and references are followed. */
const DEPTH_MAX = 64;

/** Returns the refused keywords at the top of a schema. */
export function rootUnionsOf(schema: unknown): readonly string[] {
  return isObject(schema) ? KEYWORDS.filter((keyword) => schema[keyword] !== undefined) : [];
}

/**
 * Merges the branches at the top of a tool's schema into one object, which allows every branch. Which fields belong
 * together is only described.
 */
export function flattenRoot(schema: JsonObject): JsonObject {
  const keywords = rootUnionsOf(schema);
  if (keywords.length === 0) return schema;
  const found: Found = { root: schema, fields: new Map(), references: new Set() };
  const required = collect(schema, found, 0);
  const rest = Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword));
  const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
  return {
    ...Object.fromEntries(rest),
    description: `${said}(${keywords.map((keyword) => `${keyword}: ${JSON.stringify(schema[keyword])}`).join(', ')})`,
    properties: Object.fromEntries([...found.fields].map(([name, schemas]) => [name, joinSchemas([...schemas.values()])])),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

interface Found {
  readonly root: JsonObject;
  /** The different schemas of each field, by their text. */
  readonly fields: Map<string, Map<string, unknown>>;
  /** References already followed. Following them again would find nothing new and could take very long. */
  readonly references: Set<string>;
}

/** Adds the fields of a part of the schema and returns the names of those it requires. */
function collect(part: unknown, found: Found, depth: number): ReadonlySet<unknown> {
  if (!isObject(part) || depth > DEPTH_MAX) return new Set();
  const { $ref: reference, properties, required, allOf } = part;
  const inner = (value: unknown): readonly ReadonlySet<unknown>[] => listOf(value).map((each) => collect(each, found, depth + 1));
  for (const [name, value] of Object.entries(objectOf(properties))) addField(found, name, value);
  const names = new Set(listOf(required));
  const certain = [...inner(allOf), commonOf(inner(part['anyOf'])), commonOf(inner(part['oneOf']))];
  if (typeof reference === 'string' && !found.references.has(reference)) {
    found.references.add(reference);
    certain.push(collect(resolveReference(found.root, reference), found, depth + 1));
  }
  for (const set of certain) for (const name of set) names.add(name);
  return names;
}

function addField({ fields }: Found, name: string, schema: unknown): void {
  const schemas = fields.get(name) ?? new Map<string, unknown>();
  fields.set(name, schemas.set(JSON.stringify(schema), schema));
}

function joinSchemas(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

/** Returns what all sets contain. */
function commonOf([first, ...others]: readonly ReadonlySet<unknown>[]): ReadonlySet<unknown> {
  return new Set([...(first ?? [])].filter((name) => others.every((set) => set.has(name))));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Resolves a reference such as `#/$defs/node`. Undefined for one that leaves the schema or points at its root. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const step of reference.slice(2).split('/')) value = isObject(value) ? value[readStep(step)] : undefined;
  return isObject(value) ? value : undefined;
}

/** Returns the name that a step of a reference stands for. */
export function readStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
