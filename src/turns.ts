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
