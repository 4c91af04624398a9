import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * The indexes on credit that is left go by a column of its own, which changes once. By the amount that is left, every charge wrote them anew.
 * The check is one-sided because existing rows have to pass it before they are marked: it is the side that keeps credit from being hidden.
 */
export async function spentCredit(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...COLUMN, BY_ACCOUNT[dialect]]);
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const COLUMN = [
  'ALTER TABLE grants ADD COLUMN is_spent INTEGER NOT NULL DEFAULT 0 CHECK (is_spent = 0 OR remaining = 0)',
  'UPDATE grants SET is_spent = 1 WHERE remaining = 0',
  'DROP INDEX grants_by_account',
  'DROP INDEX grants_by_expiry',
  'CREATE INDEX grants_by_expiry ON grants (expires_at, id) WHERE is_spent = 0',
];

/** In the order of use. PostgreSQL sorts nulls last by itself. */
const BY_ACCOUNT: Readonly<Record<Dialect, string>> = {
  sqlite: `CREATE INDEX grants_by_account ON grants (account_id, draw_order, expires_at IS NULL, expires_at, created_at, id)
    WHERE is_spent = 0`,
  postgres: 'CREATE INDEX grants_by_account ON grants (account_id, draw_order, expires_at, created_at, id) WHERE is_spent = 0',
};

const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION draw_credit(account TEXT, cost BIGINT, OUT plan BIGINT, OUT promo BIGINT) LANGUAGE plpgsql AS $$
  DECLARE
    rest BIGINT := cost;
    taken BIGINT;
    credit RECORD;
  BEGIN
    plan := 0;
    promo := 0;
    WHILE rest > 0 LOOP
      -- Without a limit, the planner reads and sorts all of them.
      FOR credit IN SELECT id, kind, remaining FROM grants WHERE account_id = account AND is_spent = 0
        ORDER BY draw_order, expires_at NULLS LAST, created_at, id LIMIT 16 LOOP
        EXIT WHEN rest = 0;
        taken := least(credit.remaining, rest);
        UPDATE grants SET remaining = remaining - taken, is_spent = (remaining = taken)::INT WHERE id = credit.id;
        rest := rest - taken;
        IF credit.kind = 'plan' THEN plan := plan + taken; END IF;
        IF credit.kind = 'promo' THEN promo := promo + taken; END IF;
      END LOOP;
      EXIT WHEN NOT FOUND;
    END LOOP;
  END $$`,

  `CREATE OR REPLACE FUNCTION plan_credit(account TEXT) RETURNS BIGINT LANGUAGE plpgsql AS $$
  BEGIN
    RETURN (SELECT COALESCE(SUM(remaining), 0) FROM grants WHERE account_id = account AND kind = 'plan' AND is_spent = 0);
  END $$`,

  `CREATE OR REPLACE FUNCTION ledger_expire(now_ms BIGINT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    credit RECORD;
    wallet RECORD;
    free BIGINT;
    rest BIGINT;
    taken BIGINT;
    expired INT := 0;
  BEGIN
    -- Credit that running requests hold must not keep other expired credit waiting.
    FOR credit IN SELECT grants.id, account_id, kind FROM grants JOIN wallets USING (account_id)
      WHERE expires_at <= now_ms AND is_spent = 0 AND credits_posted - debits_posted > debits_pending
      ORDER BY expires_at, grants.id LIMIT 100 LOOP
      -- A wallet in use has its turn later: waiting for it would keep the requests of this node waiting, and could be a deadlock.
      SELECT * INTO wallet FROM wallets WHERE account_id = credit.account_id FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      free := wallet.credits_posted - wallet.debits_posted - wallet.debits_pending;
      IF credit.kind = 'plan' AND wallet.plan_resets_at IS NOT NULL THEN
        free := least(free, plan_credit(credit.account_id) - wallet.debits_pending);
      END IF;
      SELECT remaining INTO rest FROM grants WHERE id = credit.id;
      taken := least(rest, free);
      CONTINUE WHEN taken <= 0;
      UPDATE wallets SET debits_posted = debits_posted + taken WHERE account_id = credit.account_id;
      UPDATE grants SET remaining = remaining - taken, is_spent = (remaining = taken)::INT WHERE id = credit.id;
      INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
      VALUES ('expiry:' || credit.id || ':' || rest, 'wallet:' || credit.account_id, 'breakage', taken, 'expiry', credit.id, now_ms);
      expired := expired + 1;
    END LOOP;
    RETURN jsonb_build_object('type', 'done', 'count', expired);
  END $$`,
];
