/**
 * Caches a computed value for `forMs`, however many callers ask at once, so that public routes cannot overload the database. If it
 * depends on something, only the value last asked for is kept.
 */
export function recent<Value, Key = void>(compute: (key: Key) => Promise<Value>, forMs: number): (key: Key) => Promise<Value> {
  let cached: { readonly key: Key; readonly value: Promise<Value>; readonly atMs: number } | undefined;
  return (key) => {
    const nowMs = performance.now();
    if (cached !== undefined && cached.key === key && nowMs - cached.atMs < forMs) return cached.value;
    const value = compute(key);
    cached = { key, value, atMs: nowMs };
    // Failures are not cached: the next caller tries again.
    value.catch(() => {
      if (cached?.value === value) cached = undefined;
    });
    return value;
  };
}
