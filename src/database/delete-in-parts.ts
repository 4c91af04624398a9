import type { DeleteResult } from 'kysely';

const PAUSE_MS = 5;
/** The usual size of a part. */
export const PART_ROWS = 500;

/** A statement that deletes a limited number of rows. */
interface Part {
  executeTakeFirst(): Promise<DeleteResult | undefined>;
}

/**
 * Deletes part by part until one deletes fewer rows than its limit; returns the total. On the embedded database a delete
 * blocks the thread and all other writers, so there is a pause after each part.
 */
export async function deleteInParts(part: Part, rowsMax: number): Promise<number> {
  for (let total = 0; ;) {
    const deleted = Number((await part.executeTakeFirst())?.numDeletedRows ?? 0n);
    total += deleted;
    if (deleted < rowsMax) return total;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
  }
}
