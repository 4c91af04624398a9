import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * However much credit an account has, a charge reads only what it uses. However much credit expires at the same moment, each transaction
 * reads only what it takes back.
 */
export async function creditInOrder(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...INDEXES, BY_ACCOUNT[dialect]]);
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const INDEXES = [
  'DROP INDEX grants_by_account',
  'DROP INDEX grants_by_expiry',
  'CREATE INDEX grants_by_expiry ON grants (expires_at, id) WHERE remaining > 0',
];

/** In the order of use. PostgreSQL sorts nulls last by itself. */
const BY_ACCOUNT: Readonly<Record<Dialect, string>> = {
  sqlite: `CREATE INDEX grants_by_account ON grants (account_id, draw_order, expires_at IS NULL, expires_at, created_at, id)
    WHERE remaining > 0`,
  postgres: 'CREATE INDEX grants_by_account ON grants (account_id, draw_order, expires_at, created_at, id) WHERE remaining > 0',
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
      FOR credit IN SELECT id, kind, remaining FROM grants WHERE account_id = account AND remaining > 0
        ORDER BY draw_order, expires_at NULLS LAST, created_at, id LIMIT 16 LOOP
        EXIT WHEN rest = 0;
        taken := least(credit.remaining, rest);
        UPDATE grants SET remaining = remaining - taken WHERE id = credit.id;
        rest := rest - taken;
        IF credit.kind = 'plan' THEN plan := plan + taken; END IF;
        IF credit.kind = 'promo' THEN promo := promo + taken; END IF;
      END LOOP;
      EXIT WHEN NOT FOUND;
    END LOOP;
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
      WHERE expires_at <= now_ms AND remaining > 0 AND credits_posted - debits_posted > debits_pending
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
      UPDATE grants SET remaining = remaining - taken WHERE id = credit.id;
      INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
      VALUES ('expiry:' || credit.id || ':' || rest, 'wallet:' || credit.account_id, 'breakage', taken, 'expiry', credit.id, now_ms);
      expired := expired + 1;
    END LOOP;
    RETURN jsonb_build_object('type', 'done', 'count', expired);
  END $$`,

  // Wallets whose credit expires are not locked first, like others: ledger_expire never waits for one.
  `CREATE OR REPLACE FUNCTION ledger_apply(operations JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    operation JSONB;
    results JSONB[] := '{}';
  BEGIN
    PERFORM hear_of(node);
    PERFORM 1 FROM wallets WHERE account_id IN (
      SELECT COALESCE(entry->'hold', entry->'extension', entry->'progress', entry->'settlement')->>'accountId'
      FROM jsonb_array_elements(operations) AS entry
      UNION SELECT account_id FROM orphaned_holds(node) WHERE operations @> '[{"type": "recover"}]'
    ) ORDER BY account_id FOR UPDATE;
    FOR operation IN SELECT * FROM jsonb_array_elements(operations) LOOP
      results := results || CASE operation->>'type'
        WHEN 'hold' THEN ledger_hold(operation->'hold', node)
        WHEN 'extend' THEN ledger_extend(operation->'extension')
        WHEN 'progress' THEN ledger_progress(operation->'progress')
        WHEN 'settle' THEN ledger_settle(operation->'settlement')
        WHEN 'recover' THEN ledger_recover(node)
        WHEN 'expire' THEN ledger_expire((operation->>'nowMs')::BIGINT)
        WHEN 'prune' THEN ledger_prune(operation->>'beforeId')
      END;
    END LOOP;
    RETURN to_jsonb(results);
  END $$`,
];
