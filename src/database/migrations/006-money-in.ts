import type { Kysely } from 'kysely';
import { raiseChangesOf, runStatements, type Dialect } from '../dialect.ts';

/** Money in: payments and what is taken back of them, promo codes, plans. The tables of that name that nothing ever filled make way. */
export async function moneyIn(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...NEVER_FILLED, ...PAYMENTS, ...PLANS, ...PROMO_CODES, ...INDEXES]);
  // What a plan allows is remembered with the keys of its accounts.
  await runStatements(
    database,
    dialect,
    ['plans', 'subscriptions'].flatMap((table) => raiseChangesOf(table, dialect)),
  );
}

const NEVER_FILLED = ['DROP TABLE promo_redemptions', 'DROP TABLE promo_codes', 'DROP TABLE payments'];

const PAYMENTS: readonly string[] = [
  // The row comes before the provider is asked: whatever happens then, there is something to ask again with.
  `CREATE TABLE payments (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), provider TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('top_up', 'auto_top_up', 'plan')),
    status TEXT NOT NULL CHECK (status IN ('created', 'open', 'unknown', 'paid', 'failed', 'expired')),
    amount INTEGER NOT NULL CHECK (amount > 0), charge_cents INTEGER NOT NULL CHECK (charge_cents > 0),
    bonus INTEGER NOT NULL DEFAULT 0, reversed INTEGER NOT NULL DEFAULT 0 CHECK (reversed >= 0 AND reversed <= amount),
    bonus_reversed INTEGER NOT NULL DEFAULT 0 CHECK (bonus_reversed >= 0 AND bonus_reversed <= bonus),
    provider_ref TEXT UNIQUE, session_ref TEXT UNIQUE, method_ref TEXT, saves_card INTEGER NOT NULL DEFAULT 0, address TEXT,
    plan_order TEXT, transfer_id TEXT UNIQUE, reason TEXT NOT NULL DEFAULT '', receipt_url TEXT,
    created_at INTEGER NOT NULL, asked_at INTEGER NOT NULL, paid_at INTEGER
  ) STRICT`,
  // One row per charge that was heard of, so that the news about it are taken one after the other.
  'CREATE TABLE provider_charges (provider_ref TEXT NOT NULL PRIMARY KEY) STRICT',
  // By the provider's own name of the payment, because a refund may be heard of before the payment.
  `CREATE TABLE payment_reversals (
    id TEXT NOT NULL PRIMARY KEY, provider_ref TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('refund', 'dispute')),
    cents INTEGER NOT NULL CHECK (cents > 0), state TEXT NOT NULL CHECK (state IN ('standing', 'lifted')), created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE webhook_events (
    event_id TEXT NOT NULL PRIMARY KEY, provider TEXT NOT NULL, type TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('received', 'applied', 'ignored', 'refused')), payment_id TEXT, detail TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE payment_customers (
    account_id TEXT NOT NULL REFERENCES accounts (id), provider TEXT NOT NULL, customer_ref TEXT NOT NULL,
    PRIMARY KEY (account_id, provider)
  ) STRICT`,
  `CREATE TABLE auto_top_ups (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id), is_on INTEGER NOT NULL, threshold INTEGER NOT NULL CHECK (threshold >= 0),
    amount INTEGER NOT NULL CHECK (amount > 0), monthly_cap INTEGER NOT NULL CHECK (monthly_cap >= 0), method_ref TEXT NOT NULL,
    reason TEXT NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT`,
];

const PLANS: readonly string[] = [
  `CREATE TABLE plans (
    id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL CHECK (price >= 0),
    period TEXT NOT NULL CHECK (period IN ('month', 'year')), included INTEGER NOT NULL CHECK (included >= 0),
    requests_per_minute INTEGER, tokens_per_minute INTEGER, concurrent INTEGER, models TEXT, is_offered INTEGER NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('settings', 'command')), created_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT`,
  `CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), plan_id TEXT NOT NULL REFERENCES plans (id),
    status TEXT NOT NULL CHECK (status IN ('active', 'past_due', 'ended')),
    pays_by TEXT NOT NULL CHECK (pays_by IN ('balance', 'card', 'nobody')), method_ref TEXT, anchor INTEGER NOT NULL, turn INTEGER NOT NULL,
    period_start INTEGER NOT NULL, period_end INTEGER NOT NULL, periods_left INTEGER, ends_with_period INTEGER NOT NULL,
    next_plan_id TEXT REFERENCES plans (id), grace_until INTEGER, retry_at INTEGER, tries INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT`,
  // One grant per period: whoever comes second meets the key.
  `CREATE TABLE plan_periods (
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id), period_start INTEGER NOT NULL, period_end INTEGER NOT NULL,
    plan_id TEXT NOT NULL, price INTEGER NOT NULL, included INTEGER NOT NULL, changes INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL,
    PRIMARY KEY (subscription_id, period_start)
  ) STRICT`,
];

const PROMO_CODES: readonly string[] = [
  `CREATE TABLE promo_codes (
    id TEXT NOT NULL PRIMARY KEY, code_hash TEXT NOT NULL UNIQUE, shown TEXT NOT NULL, campaign TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('credit', 'plan', 'bonus')), amount INTEGER, percent INTEGER, plan_id TEXT REFERENCES plans (id),
    periods INTEGER, credit_days INTEGER, used INTEGER NOT NULL CHECK (used >= 0 AND used <= max_uses), max_uses INTEGER NOT NULL,
    per_account INTEGER NOT NULL, new_account_days INTEGER, minimum_top_up INTEGER NOT NULL DEFAULT 0, valid_from INTEGER, valid_to INTEGER,
    stopped_at INTEGER, created_at INTEGER NOT NULL
  ) STRICT`,
  // The address outlives the account: who deletes an account and makes another is the same person to a campaign.
  `CREATE TABLE promo_redemptions (
    campaign TEXT NOT NULL, account_id TEXT NOT NULL REFERENCES accounts (id), n INTEGER NOT NULL,
    code_id TEXT NOT NULL REFERENCES promo_codes (id), email_hash TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('done', 'waiting')),
    payment_id TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (campaign, account_id, n), UNIQUE (campaign, email_hash, n)
  ) STRICT`,
  'CREATE TABLE promo_guesses (name TEXT NOT NULL PRIMARY KEY, window_start INTEGER NOT NULL, failures INTEGER NOT NULL) STRICT',
];

const INDEXES = [
  'CREATE INDEX payments_by_account ON payments (account_id, created_at)',
  "CREATE INDEX payments_unfinished ON payments (asked_at) WHERE status IN ('created', 'open', 'unknown')",
  // However many processes see a low balance at the same time, one of them charges the card.
  `CREATE UNIQUE INDEX payments_one_auto_top_up ON payments (account_id)
   WHERE purpose = 'auto_top_up' AND status IN ('created', 'open', 'unknown')`,
  'CREATE INDEX payment_reversals_by_payment ON payment_reversals (provider_ref)',
  "CREATE INDEX webhook_events_refused ON webhook_events (created_at) WHERE outcome = 'refused'",
  "CREATE UNIQUE INDEX subscriptions_one_each ON subscriptions (account_id) WHERE status <> 'ended'",
  "CREATE INDEX subscriptions_by_end ON subscriptions (period_end) WHERE status <> 'ended'",
  'CREATE INDEX promo_redemptions_by_code ON promo_redemptions (code_id)',
  "CREATE INDEX promo_redemptions_waiting ON promo_redemptions (account_id) WHERE state = 'waiting'",
];
