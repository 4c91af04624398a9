/** Work that is done again and again, one turn at a time: a slow one is not joined by the next. */
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

/** Work on a clock of its own. */
export interface Clock {
  /** Takes a turn now, unless one is under way. */
  run(): void;
  /** Takes no more turns; resolves when the one that is under way has ended. */
  stop(): Promise<void>;
}

/** Takes a turn again and again. A failure is told, and the next turn comes all the same. */
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

/** Lets others have their turn. The embedded database answers at once, so who does nothing but ask it keeps its thread from all else. */
export function letOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
