import { yieldToOthers } from '../turns.ts';

/** Runs work on one item after the other, even if earlier ones fail. Throws the first failure at the end. */
export async function runEach<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
    }
    await yieldToOthers();
  }
  if (failures.length > 0) throw failures[0];
}
