import type { Insertable, Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { coarseRange } from '../http/address-range.ts';
import type { BudgetPeriod } from '../ledger/ledger.ts';
import { yieldToOthers } from '../turns.ts';

type SecretUse = Insertable<Tables['key_uses']>;
type BudgetRefusal = Insertable<Tables['budget_refusals']>;

/** Notes that wait to be written. Beyond this count new ones are dropped: they are not important enough to fill the memory. */
const WAITING_MAX = 10_000;
const BATCH_ROWS_MAX = 500;

/**
 * Collects the last use of each secret and the last refusal of each budget until housekeeping writes them. Requests must not
 * wait for data that people look at once a day.
 */
export class KeyUses {
  readonly #uses = new Map<string, SecretUse>();
  readonly #refusals = new Map<string, BudgetRefusal>();

  noteUse(secretHash: string, atMs: number, address: string): void {
    if (this.#uses.size >= WAITING_MAX && !this.#uses.has(secretHash)) return;
    this.#uses.set(secretHash, { secret_hash: secretHash, used_at: atMs, address_range: coarseRange(address) });
  }

  noteRefusal(keyId: string, period: BudgetPeriod, atMs: number): void {
    const place = `${keyId} ${period}`;
    if (this.#refusals.size >= WAITING_MAX && !this.#refusals.has(place)) return;
    this.#refusals.set(place, { key_id: keyId, period, refused_at: atMs });
  }

  /** Writes the collected notes. Those that cannot be written wait for the next attempt. */
  async write(database: Kysely<Tables>): Promise<void> {
    await drain(this.#uses, (rows) => writeUses(database, rows));
    await drain(this.#refusals, (rows) => writeRefusals(database, rows));
  }
}

/** Writes in batches, sorted by key: two servers that write the same rows do so in the same order, which avoids deadlocks. */
async function drain<Row>(waiting: Map<string, Row>, write: (rows: Row[]) => Promise<unknown>): Promise<void> {
  const entries = [...waiting].toSorted(([first], [second]) => (first < second ? -1 : 1));
  for (let start = 0; start < entries.length; start += BATCH_ROWS_MAX) {
    const batch = entries.slice(start, start + BATCH_ROWS_MAX);
    await write(batch.map(([, row]) => row));
    // An entry that was replaced meanwhile is newer than the written one and stays.
    for (const [place, row] of batch) if (waiting.get(place) === row) waiting.delete(place);
    await yieldToOthers();
  }
}

/** Writes uses. Of two servers' rows the later use wins, whichever is written first. */
async function writeUses(database: Kysely<Tables>, rows: readonly SecretUse[]): Promise<void> {
  await database
    .insertInto('key_uses')
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .column('secret_hash')
        .doUpdateSet((row) => ({ used_at: row.ref('excluded.used_at'), address_range: row.ref('excluded.address_range') }))
        .whereRef('excluded.used_at', '>', 'key_uses.used_at'),
    )
    .execute();
}

async function writeRefusals(database: Kysely<Tables>, rows: readonly BudgetRefusal[]): Promise<void> {
  await database
    .insertInto('budget_refusals')
    .values([...rows])
    .onConflict((conflict) =>
      conflict
        .columns(['key_id', 'period'])
        .doUpdateSet((row) => ({ refused_at: row.ref('excluded.refused_at') }))
        .whereRef('excluded.refused_at', '>', 'budget_refusals.refused_at'),
    )
    .execute();
}
