import { isObject, type JsonObject } from '../../openai/types.ts';
import { isExpressible } from '../anthropic/encode-schema.ts';
import type { Capabilities } from './capabilities.ts';

/** What the grammar of an answer does not know. It is told to the model in words, so that it is not lost. */
const TOLD_IN_WORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
]);
const DEPTH_MAX = 32;

/** Whether a model can be held to a schema. Those that can are Claude's, whose grammar takes the same schemas wherever it is served. */
export function canEnforce(schema: JsonObject, { hasSchemas }: Capabilities): boolean {
  return hasSchemas && isExpressible(schema);
}

/** A JSON schema within the subset that answers and calls can be held to: closed objects, no ranges, `anyOf` for every choice. */
export function encodeEnforcedSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > DEPTH_MAX) return {};
  const encoded: JsonObject = {};
  const words: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (name === '$schema') continue;
    if (TOLD_IN_WORDS.has(name)) words.push(`${name}: ${JSON.stringify(value)}`);
    else encoded[name === 'oneOf' ? 'anyOf' : name] = encodeKeyword(name, value, depth);
  }
  if (encoded['type'] === 'object' || isObject(encoded['properties'])) encoded['additionalProperties'] = false;
  if (words.length > 0) encoded['description'] = [encoded['description'], `(${words.join(', ')})`].filter(Boolean).join(' ');
  return encoded;
}

function encodeKeyword(name: string, value: unknown, depth: number): unknown {
  const encode = (inner: unknown): unknown => (isObject(inner) ? encodeEnforcedSchema(inner, depth + 1) : inner);
  if (name === 'properties' || name === '$defs' || name === 'definitions') {
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, encode(inner)])) : value;
  }
  if (name === 'anyOf' || name === 'oneOf' || name === 'allOf') return Array.isArray(value) ? value.map(encode) : value;
  return name === 'items' ? encode(value) : value;
}
