/** Looks up a name that a provider or a caller chose. Own properties only: every object inherits a `constructor`. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: unknown): Value | undefined {
  // Some objects have no text, and asking one for it throws.
  if (typeof name !== 'string' && typeof name !== 'number') return undefined;
  const key = String(name);
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
