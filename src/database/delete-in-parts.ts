import type { DeleteResult } from 'kysely';

const PAUSE_MS = 5;

/** A statement that deletes some rows at most. */
interface Part {
  executeTakeFirst(): Promise<DeleteResult | undefined>;
}

/**
 * Deletes part by part until one finds less than it may, and gives how many rows there were. Who deletes on the embedded database keeps
 * the thread and everybody else who writes waiting, so there is a pause after each.
 */
export async function deleteInParts(part: Part, rowsMax: number): Promise<number> {
  for (let total = 0; ;) {
    const deleted = Number((await part.executeTakeFirst())?.numDeletedRows ?? 0n);
    total += deleted;
    if (deleted < rowsMax) return total;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
  }
}
