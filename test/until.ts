const POLL_MS = 10;
/** Generous, because the machine may be busy with other tests. */
const WITHIN_MS = 60_000;

/** Polls until `look` returns a value that is not undefined, null or false, and returns it. Throws after `withinMs`. */
export async function until<Result>(
  look: () => Promise<Result> | Result,
  withinMs = WITHIN_MS,
): Promise<Exclude<Result, undefined | null | false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as Exclude<Result, undefined | null | false>;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${look.toString()}`);
    await Bun.sleep(POLL_MS);
  }
}
