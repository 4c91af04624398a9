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

/** Yields to other work. The embedded database responds synchronously, so a loop of queries would otherwise block its thread. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
