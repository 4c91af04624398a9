const POLL_MS = 10;
/** Long enough for whatever is promised for soon, on a machine that does other things too. */
const WITHIN_MS = 20_000;

/** Looks again and again until there is something to see, and gives it; throws when the time is over. */
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
