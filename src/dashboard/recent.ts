/** Makes something at most so often, however many ask at once: what is public must not be a way to keep the database busy. */
export function recent<Value>(make: () => Promise<Value>, forMs: number): () => Promise<Value> {
  let made: { readonly value: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (made !== undefined && nowMs - made.atMs < forMs) return made.value;
    const value = make();
    made = { value, atMs: nowMs };
    // A failure is not kept: whoever asks next tries again.
    value.catch(() => {
      if (made?.value === value) made = undefined;
    });
    return value;
  };
}
