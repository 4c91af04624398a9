import { isObject, type JsonObject } from '../../openai/types.ts';
import { flattenRoot, resolveReference } from '../root-union.ts';

/** How much is written out in place of references. Beyond it, anything is allowed. */
const PARTS_MAX = 5000;
const DEPTH_MAX = 128;

/**
 * Returns a tool's schema for a model that accepts only `type`, `properties` and `required` at its top. Definitions have
 * no place there, so they replace the references to them.
 */
export function encodePlainSchema(schema: JsonObject): JsonObject {
  const { properties, required } = flattenRoot(schema);
  const hasDefinitions = isObject(schema['$defs']) || isObject(schema['definitions']);
  const writer = new DefinitionWriter(schema);
  return {
    type: 'object',
    properties: isObject(properties) ? (hasDefinitions ? writer.write(properties, 0) : properties) : {},
    ...(Array.isArray(required) ? { required } : {}),
  };
}

class DefinitionWriter {
  readonly #root: JsonObject;
  /** References being written out: meeting one again means recursion, which cannot be written out. */
  readonly #open = new Set<string>();
  #parts = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  write(value: unknown, depth: number): unknown {
    if (Array.isArray(value)) return value.map((item) => this.write(item, depth + 1));
    if (!isObject(value)) return value;
    this.#parts += 1;
    if (this.#parts > PARTS_MAX || depth > DEPTH_MAX) return {};
    const { $ref: reference, ...rest } = value;
    if (typeof reference === 'string') return this.#writeReference(reference, rest, depth);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.write(inner, depth + 1)]));
  }

  #writeReference(reference: string, beside: JsonObject, depth: number): unknown {
    const target = resolveReference(this.#root, reference);
    if (target === undefined || this.#open.has(reference)) return beside;
    this.#open.add(reference);
    const written = this.write({ ...target, ...beside }, depth + 1);
    this.#open.delete(reference);
    return written;
  }
}
