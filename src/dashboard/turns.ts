/** Work that is done again and again, one turn at a time: a slow one is not joined by the next. */
export class Turns {
  readonly #work: () => Promise<void>;
  readonly #fail: (error: unknown) => void;
  underWay: Promise<void> | undefined;

  constructor(work: () => Promise<void>, fail: (error: unknown) => void) {
    this.#work = work;
    this.#fail = fail;
  }

  run(): void {
    this.underWay ??= this.#work()
      .catch(this.#fail)
      .finally(() => {
        this.underWay = undefined;
      });
  }
}
