import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** What a refund or dispute took from an account's credit, so that the same comes back, with its kind and its end, if it is lifted. */
export async function takenCredit(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, TABLE);
}

const TABLE = [
  `CREATE TABLE taken_credit (
    provider_ref TEXT NOT NULL, part TEXT NOT NULL CHECK (part IN ('paid', 'promo')), grant_id TEXT NOT NULL REFERENCES grants (id),
    amount INTEGER NOT NULL CHECK (amount > 0), PRIMARY KEY (provider_ref, part, grant_id)
  ) STRICT, WITHOUT ROWID`,
];
