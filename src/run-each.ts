import { yieldToOthers } from './turns.ts';

/** Runs work on all items, by default one after the other, even if earlier ones fail. Throws the first failure at the end. */
export async function runEach<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>, atOnce = 1): Promise<void> {
  const failures: unknown[] = [];
  const waiting = items.values();
  const workOn = async (): Promise<void> => {
    // All share one iterator, so each item is taken once.
    for (const item of waiting) {
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
      await yieldToOthers();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  if (failures.length > 0) throw failures[0];
}
