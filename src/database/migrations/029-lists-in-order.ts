import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * However many accounts there are, a page of the record of changes or of the uses of a code is read in its order, and the uses of one
 * account without those of all. Where the index had no time in it, each page sorted all that it could have shown.
 */
export async function listsInOrder(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
}

const STATEMENTS = [
  'DROP INDEX audit_by_action',
  'CREATE INDEX audit_by_action ON audit (action, created_at, id)',
  'CREATE INDEX audit_by_actor ON audit (actor, created_at, id)',
  'DROP INDEX promo_redemptions_by_code',
  'CREATE INDEX promo_redemptions_by_code ON promo_redemptions (code_id, created_at, account_id, n)',
  'CREATE INDEX promo_redemptions_by_campaign ON promo_redemptions (campaign, created_at, account_id, n)',
  'DROP INDEX promo_redemptions_waiting',
  'CREATE INDEX promo_redemptions_by_account ON promo_redemptions (account_id)',
];
