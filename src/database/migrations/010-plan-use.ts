import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';
import { PLAN_USE_FUNCTIONS } from './010-plan-use-postgres.ts';

/** How the credit of a plan is used: before the rest of the balance, after it, or alone. And whom payment providers are to forget. */
export async function planUse(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, STATEMENTS);
  if (dialect === 'postgres') await runStatements(database, dialect, PLAN_USE_FUNCTIONS);
}

const STATEMENTS = [
  `ALTER TABLE plans ADD COLUMN use_first TEXT NOT NULL DEFAULT 'plan' CHECK (use_first IN ('plan', 'balance'))`,
  `ALTER TABLE plans ADD COLUMN overflow TEXT NOT NULL DEFAULT 'balance' CHECK (overflow IN ('balance', 'stop'))`,
  // Null for what the plan says.
  `ALTER TABLE subscriptions ADD COLUMN use_first TEXT CHECK (use_first IN ('plan', 'balance'))`,
  // Both stand where a charge looks anyway, so that it asks nobody for the plan of its account.
  'ALTER TABLE grants ADD COLUMN draw_order INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE wallets ADD COLUMN plan_resets_at INTEGER',
  'ALTER TABLE payment_customers ADD COLUMN forget_at INTEGER',
  'UPDATE payment_customers SET forget_at = 0 WHERE account_id IN (SELECT id FROM accounts WHERE closed_at IS NOT NULL)',
  'CREATE INDEX payment_customers_leaving ON payment_customers (forget_at) WHERE forget_at IS NOT NULL',
];
