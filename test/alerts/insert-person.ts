import { sql } from 'kysely';
import type { OpenStore } from '../accounts/stores.ts';

interface NewPerson {
  readonly accountId: string;
  /** The chosen time zone. */
  readonly zone?: string;
}

/** Writes the owner of an account, with the id that they have at the front desk. */
export async function insertPerson({ kysely, dialect }: OpenStore, { accountId, zone }: NewPerson): Promise<void> {
  const isVerified = sql.raw(dialect === 'postgres' ? 'TRUE' : '1');
  await sql`INSERT INTO people (id, account_id, name, email, email_verified, zone, created_at, updated_at)
    VALUES (${`user of ${accountId}`}, ${accountId}, '', ${accountId}, ${isVerified}, ${zone ?? null}, '2026-01-01', '2026-01-01')`.execute(
    kysely,
  );
}
