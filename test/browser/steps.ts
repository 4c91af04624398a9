import { inTime } from '../../src/in-time.ts';

interface Step {
  readonly name: string;
  readonly take: () => Promise<void>;
  readonly withinMs: number;
}

/** What happens one after the other, where each step needs those before it: one test, so that no step runs without them. */
export class Steps {
  readonly #steps: Step[] = [];

  readonly add = (name: string, take: () => Promise<void>, withinMs: number): void => {
    this.#steps.push({ name, take, withinMs });
  };

  /** The longest that all of them may take. */
  get withinMs(): number {
    return this.#steps.reduce((sum, { withinMs }) => sum + withinMs, 0);
  }

  /** Takes them in order. The first that fails is the end, and is named. */
  async takeAll(): Promise<void> {
    for (const { name, take, withinMs } of this.#steps)
      await inTime('the page', take(), withinMs).catch((cause: unknown) => {
        throw new Error(`The step that failed: ${name}`, { cause });
      });
  }
}
