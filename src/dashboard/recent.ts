/** Caches a computed value for `forMs`, however many callers ask at once, so that public routes cannot overload the database. */
export function recent<Value>(compute: () => Promise<Value>, forMs: number): () => Promise<Value> {
  let cached: { readonly value: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (cached !== undefined && nowMs - cached.atMs < forMs) return cached.value;
    const value = compute();
    cached = { value, atMs: nowMs };
    // Failures are not cached: the next caller tries again.
    value.catch(() => {
      if (cached?.value === value) cached = undefined;
    });
    return value;
  };
}
