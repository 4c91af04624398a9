const POLL_MS = 20;

/** Looks again and again until there is something to see, and gives it; throws when the time is over. */
export async function until<Result>(look: () => Promise<Result | undefined>, withinMs: number): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`what was waited for did not happen within ${withinMs} ms`);
    await Bun.sleep(POLL_MS);
  }
}
