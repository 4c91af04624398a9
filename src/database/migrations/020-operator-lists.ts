import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Operators read codes from the newest on, of all campaigns or of one, and the subscribers of a plan. */
export async function operatorLists(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  'CREATE INDEX promo_codes_by_time ON promo_codes (created_at, id)',
  'CREATE INDEX promo_codes_by_campaign ON promo_codes (campaign, created_at, id)',
  "CREATE INDEX subscriptions_by_plan ON subscriptions (plan_id, created_at, id) WHERE status <> 'ended'",
];
