import { isObject, type JsonObject } from '../openai/types.ts';

/**
 * Returns an object without fields that are null, and without those of the objects in it. Deeper ones stay: in a schema, null is a
 * value. The object itself is returned if it has none.
 */
export function withoutNulls(object: JsonObject, depth = 1): JsonObject {
  let changed: JsonObject | undefined;
  for (const name in object) {
    const value = object[name];
    const kept = isObject(value) && depth > 0 ? withoutNulls(value, depth - 1) : value;
    if (kept === value && value !== null) continue;
    changed ??= { ...object };
    if (value === null) delete changed[name];
    else changed[name] = kept;
  }
  return changed ?? object;
}
