import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { coarseRange } from '../http/address-range.ts';
import type { BudgetPeriod } from '../ledger/ledger.ts';
import { letOthers } from '../turns.ts';

interface SecretUse {
  readonly secret_hash: string;
  readonly used_at: number;
  readonly address_range: string;
}

interface BudgetRefusal {
  readonly key_id: string;
  readonly period: BudgetPeriod;
  readonly refused_at: number;
}

/** What is not written within a turn of the house waits; beyond this, the least important news of the day is dropped. */
const WAITING_MAX = 10_000;
const BATCH_ROWS_MAX = 500;

/**
 * Remembers when secrets were used and budgets refused, until housekeeping writes it down: requests must not wait for
 * something that people look at once a day.
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

  /** Writes what was noted. What cannot be written waits for the next time. */
  async write(database: Kysely<Tables>): Promise<void> {
    await drain(this.#uses, (rows) => writeUses(database, rows));
    await drain(this.#refusals, (rows) => writeRefusals(database, rows));
  }
}

/** Sorted, so that two servers that write the same rows do so in the same order and never wait for each other in a circle. */
async function drain<Row>(waiting: Map<string, Row>, write: (rows: Row[]) => Promise<unknown>): Promise<void> {
  const entries = [...waiting].toSorted(([first], [second]) => (first < second ? -1 : 1));
  for (let start = 0; start < entries.length; start += BATCH_ROWS_MAX) {
    const batch = entries.slice(start, start + BATCH_ROWS_MAX);
    await write(batch.map(([, row]) => row));
    // What was noted again meanwhile is newer than what was written.
    for (const [place, row] of batch) if (waiting.get(place) === row) waiting.delete(place);
    await letOthers();
  }
}

/** Of two servers, the later use counts, whichever is written first. */
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
