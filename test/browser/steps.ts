import { withTimeout } from '../../src/with-timeout.ts';

interface Step {
  readonly name: string;
  readonly take: () => Promise<void>;
  readonly withinMs: number;
}

/** Steps that depend on the ones before them. They run as one test, so that no step runs without its predecessors. */
export class Steps {
  readonly #steps: Step[] = [];

  readonly add = (name: string, take: () => Promise<void>, withinMs: number): void => {
    this.#steps.push({ name, take, withinMs });
  };

  /** The time limit of all steps together. */
  get withinMs(): number {
    return this.#steps.reduce((sum, { withinMs }) => sum + withinMs, 0);
  }

  /** Runs the steps in order. Stops at the first failure and names the step. */
  async takeAll(): Promise<void> {
    for (const { name, take, withinMs } of this.#steps)
      await withTimeout('the page', take(), withinMs).catch((cause: unknown) => {
        throw new Error(`The step that failed: ${name}`, { cause });
      });
  }
}
