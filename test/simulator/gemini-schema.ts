import type { JsonObject } from './wire.ts';

/** The JSON-schema keywords that Google documents. Any other is refused. */
const KEYWORDS = new Set(
  `$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf
  properties additionalProperties required propertyOrdering`.split(/\s+/u),
);
const ITEMS_SUM_MAX = 960;

/** Returns what is wrong with a schema, or undefined. */
export function complainAboutSchema(schema: unknown, path: string): string | undefined {
  const sum = sumOfMaxItems(schema);
  if (sum > ITEMS_SUM_MAX) return 'Request contains an invalid argument.';
  return complainAboutNode(schema, path);
}

function complainAboutNode(node: unknown, path: string): string | undefined {
  if (typeof node === 'boolean') return undefined;
  if (!isObject(node)) return `Invalid value at '${path}': a schema must be an object.`;
  const names = Object.keys(node);
  const stranger = names.find((name) => !KEYWORDS.has(name));
  if (stranger !== undefined) return `Unknown name "${stranger}" at '${path}': Cannot find field.`;
  const neighbour = names.find((name) => !name.startsWith('$'));
  if ('$ref' in node && neighbour !== undefined) return `'${path}': $ref may not stand beside "${neighbour}".`;
  const values = node['enum'];
  if (values !== undefined && !(Array.isArray(values) && values.every((value) => typeof value === 'string' || typeof value === 'number')))
    return `'${path}.enum' may hold strings and numbers only.`;
  for (const [name, child] of childrenOf(node)) {
    const complaint = complainAboutNode(child, `${path}.${name}`);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function childrenOf(node: JsonObject): [string, unknown][] {
  const maps = ['properties', '$defs'].flatMap((name) => (isObject(node[name]) ? Object.entries(node[name]) : []));
  const lists = ['anyOf', 'oneOf', 'prefixItems'].flatMap((name) => (Array.isArray(node[name]) ? Object.entries(node[name]) : []));
  const ones = ['items', 'additionalProperties'].flatMap((name): [string, unknown][] => (name in node ? [[name, node[name]]] : []));
  return [...maps, ...lists, ...ones];
}

function sumOfMaxItems(node: unknown): number {
  if (!isObject(node)) return 0;
  const own = typeof node['maxItems'] === 'number' ? node['maxItems'] : 0;
  return childrenOf(node).reduce((sum, [, child]) => sum + sumOfMaxItems(child), own);
}

/** Returns a value that matches a schema, as a model would make one up. */
export function exampleOf(schema: unknown): unknown {
  if (!isObject(schema)) return null;
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (Array.isArray(schema['anyOf'])) return exampleOf(schema['anyOf'][0]);
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'object': {
      const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
      return Object.fromEntries(properties.map(([name, child]) => [name, exampleOf(child)]));
    }
    case 'array':
      return [exampleOf(schema['items'])];
    case 'integer':
    case 'number':
      return 7;
    case 'boolean':
      return true;
    default:
      return 'Zürich ☂';
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
