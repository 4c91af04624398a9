/** Work that repeats on a timer. */
export interface Clock {
  /** Runs a turn now, unless one is running. */
  run(): void;
  /** Stops the timer. Resolves when the running turn has ended. */
  stop(): Promise<void>;
}

/** Runs work at an interval, one turn at a time. Failures are reported to `fail` and do not stop the next turn. */
export function every(intervalMs: number, work: () => Promise<unknown>, fail: (error: unknown) => void): Clock {
  let underWay: Promise<void> | undefined;
  const run = (): void => {
    underWay ??= work()
      .then(() => undefined, fail)
      .finally(() => {
        underWay = undefined;
      });
  };
  const timer = setInterval(run, intervalMs);
  return {
    run,
    stop: async () => {
      clearInterval(timer);
      await underWay;
    },
  };
}

/** How far the wall clock may get ahead from one look to the next, beyond the time that has passed. */
const AHEAD_MS_MAX = 5 * 60_000;
/** Afterwards the time is right as far as anybody knows. A clock that was set wrong is usually corrected sooner, by other machines' clocks. */
const DOUBT_MS = 15 * 60_000;

/** The clocks of a machine: what it shows, and what only ever counts the time that passes. */
interface MachineClocks {
  readonly wallMs: () => number;
  readonly steadyMs: () => number;
}

/**
 * Returns a function that says whether to believe the wall clock. It does not for a while after the clock was set forward, so that a clock
 * that is wrong for some minutes destroys nothing. `onAhead` learns of it once.
 */
export function watchClock(
  onAhead: () => void,
  { wallMs, steadyMs }: MachineClocks = { wallMs: () => Date.now(), steadyMs: () => performance.now() },
): () => boolean {
  let believedMs = wallMs() - steadyMs();
  let doubtedAtMs: number | undefined;
  return () => {
    const nowMs = steadyMs();
    const differenceMs = wallMs() - nowMs;
    if (differenceMs - believedMs > AHEAD_MS_MAX) {
      if (doubtedAtMs === undefined) onAhead();
      doubtedAtMs ??= nowMs;
      if (nowMs - doubtedAtMs < DOUBT_MS) return false;
    }
    believedMs = differenceMs;
    doubtedAtMs = undefined;
    return true;
  };
}

/** Yields to other work. The embedded database responds synchronously, so a loop of queries would otherwise block its thread. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
