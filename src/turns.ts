/** Repeated work, one turn at a time: a turn never overlaps the previous one. */
export class Turns {
  readonly #work: () => Promise<unknown>;
  readonly #fail: (error: unknown) => void;
  underWay: Promise<void> | undefined;

  constructor(work: () => Promise<unknown>, fail: (error: unknown) => void) {
    this.#work = work;
    this.#fail = fail;
  }

  run(): void {
    this.underWay ??= this.#work()
      .then(() => undefined, this.#fail)
      .finally(() => {
        this.underWay = undefined;
      });
  }
}

/** Work that repeats on a timer. */
export interface Clock {
  /** Runs a turn now, unless one is running. */
  run(): void;
  /** Stops the timer. Resolves when the running turn has ended. */
  stop(): Promise<void>;
}

/** Runs work at an interval. Failures are reported to `fail` and do not stop the next turn. */
export function every(intervalMs: number, work: () => Promise<unknown>, fail: (error: unknown) => void): Clock {
  const turns = new Turns(work, fail);
  const timer = setInterval(() => turns.run(), intervalMs);
  return {
    run: () => turns.run(),
    stop: async () => {
      clearInterval(timer);
      await turns.underWay;
    },
  };
}

/** Yields to other work. The embedded database responds synchronously, so a loop of queries would otherwise block its thread. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
