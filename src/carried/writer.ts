import type { Kysely } from 'kysely';
import { BackgroundWriter, EMBEDDED_WAIT_MS } from '../database/background-writer.ts';
import type { OpenDatabase } from '../database/connect.ts';
import type { Tables } from '../database/tables.ts';
import { unflushed } from '../database/unflushed.ts';

/** Called when values cannot be read or written, once until that works again. */
export type OnCarriedFailure = (event: string, error: unknown) => void;

/** A row of the table. */
export interface CarriedRow {
  readonly account_id: string;
  readonly tool_call_id: string;
  readonly value: string;
  readonly created_at: number;
}

const BATCH_ROWS_MAX = 1000;

/** Opens a background writer. Values dropped while the database is away are still in this process's memory. */
export function openCarriedWriter(database: OpenDatabase, onFailure: OnCarriedFailure): BackgroundWriter<CarriedRow> {
  return new BackgroundWriter<CarriedRow>({
    insert: (batch) => unflushed(database, (kysely) => insert(kysely, batch)),
    sizeOf: ({ value }) => value.length,
    // Another node may need a value as soon as the answer is out.
    waitMs: database.dialect === 'sqlite' ? EMBEDDED_WAIT_MS : 0,
    batchRowsMax: BATCH_ROWS_MAX,
    failed: (error) => onFailure('data kept for providers could not be written', error),
  });
}

async function insert(kysely: Kysely<Tables>, batch: readonly CarriedRow[]): Promise<void> {
  // PostgreSQL refuses to change a row twice in one statement. Of two values the later one counts.
  const rows = [...new Map(batch.map((row) => [`${row.account_id} ${row.tool_call_id}`, row])).values()];
  await kysely
    .insertInto('carried')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'tool_call_id']).doUpdateSet((row) => ({
        value: row.ref('excluded.value'),
        created_at: row.ref('excluded.created_at'),
      })),
    )
    .execute();
}
