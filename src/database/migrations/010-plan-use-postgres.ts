/**
 * The functions of the ledger that know how an account uses the credit of its plan. Nodes of the version before, which may still
 * run, take `plan_exhausted` for a balance that is too small.
 */
export const PLAN_USE_FUNCTIONS: readonly string[] = [
  // What the account wants used first, then what ends first. What no grant covers is the account's debt.
  `CREATE OR REPLACE FUNCTION draw_grants(account TEXT, cost BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
  DECLARE
    rest BIGINT := cost;
    credit RECORD;
  BEGIN
    FOR credit IN SELECT id, remaining FROM grants WHERE account_id = account AND remaining > 0
      ORDER BY draw_order, expires_at NULLS LAST, created_at, id LOOP
      EXIT WHEN rest = 0;
      UPDATE grants SET remaining = remaining - least(credit.remaining, rest) WHERE id = credit.id;
      rest := rest - least(credit.remaining, rest);
    END LOOP;
  END $$`,

  // What is left of the plan's credit. Asked only for accounts that may spend nothing else.
  `CREATE FUNCTION plan_credit(account TEXT) RETURNS BIGINT LANGUAGE plpgsql AS $$
  BEGIN
    RETURN (SELECT COALESCE(SUM(remaining), 0) FROM grants WHERE account_id = account AND kind = 'plan' AND remaining > 0);
  END $$`,

  `CREATE OR REPLACE FUNCTION ledger_hold(hold JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    wanted BIGINT := (hold->>'amount')::BIGINT;
    minimum BIGINT := (hold->>'minimum')::BIGINT;
    now_ms BIGINT := (hold->>'createdAtMs')::BIGINT;
    available BIGINT;
    pending BIGINT;
    resets_at BIGINT;
    budget RECORD;
    taken BIGINT;
  BEGIN
    SELECT amount INTO taken FROM holds WHERE id = hold->>'requestId';
    IF FOUND THEN RETURN jsonb_build_object('type', 'held', 'amount', taken::TEXT); END IF;
    SELECT credits_posted - debits_posted - debits_pending, debits_pending, plan_resets_at INTO STRICT available, pending, resets_at
    FROM wallets WHERE account_id = hold->>'accountId';
    IF resets_at IS NOT NULL THEN available := least(available, plan_credit(hold->>'accountId') - pending); END IF;
    IF minimum > 0 AND available < minimum THEN
      IF resets_at IS NULL THEN RETURN jsonb_build_object('type', 'insufficient_funds', 'available', available::TEXT); END IF;
      RETURN jsonb_build_object('type', 'plan_exhausted', 'available', available::TEXT, 'resetsAtMs', resets_at);
    END IF;
    PERFORM turn_budgets(hold->>'keyId', now_ms);
    FOR budget IN SELECT period, amount - spent - held AS left_over FROM key_budgets WHERE key_id = hold->>'keyId' ORDER BY period LOOP
      IF minimum > 0 AND budget.left_over < minimum THEN
        RETURN jsonb_build_object('type', 'budget_exhausted', 'available', budget.left_over::TEXT, 'period', budget.period);
      END IF;
      available := least(available, budget.left_over);
    END LOOP;
    IF wanted > available AND wanted > minimum THEN wanted := available; END IF;
    UPDATE wallets SET debits_pending = debits_pending + wanted WHERE account_id = hold->>'accountId';
    UPDATE key_budgets SET held = held + wanted WHERE key_id = hold->>'keyId';
    INSERT INTO holds (id, account_id, key_id, model, price_version, amount, node_id, created_at)
    VALUES (hold->>'requestId', hold->>'accountId', hold->>'keyId', hold->>'model', (hold->>'priceVersion')::BIGINT, wanted, node, now_ms);
    RETURN jsonb_build_object('type', 'held', 'amount', wanted::TEXT);
  END $$`,

  `CREATE OR REPLACE FUNCTION ledger_extend(extension JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    account TEXT := extension->>'accountId';
    taken BIGINT;
    more BIGINT;
  BEGIN
    SELECT amount INTO taken FROM holds WHERE id = extension->>'requestId';
    IF NOT FOUND THEN RETURN '{"type": "refused"}'; END IF;
    more := COALESCE((extension->>'total')::BIGINT - taken, (extension->>'amount')::BIGINT);
    -- The same extension again, because its first answer got lost.
    IF more <= 0 THEN RETURN '{"type": "extended"}'; END IF;
    PERFORM turn_budgets(extension->>'keyId', clock_ms());
    IF EXISTS (SELECT 1 FROM wallets WHERE account_id = account AND (credits_posted - debits_posted - debits_pending < more
        OR CASE WHEN plan_resets_at IS NULL THEN FALSE ELSE plan_credit(account) - debits_pending < more END))
      OR EXISTS (SELECT 1 FROM key_budgets WHERE key_id = extension->>'keyId' AND amount - spent - held < more) THEN
      RETURN '{"type": "refused"}';
    END IF;
    UPDATE holds SET amount = taken + more WHERE id = extension->>'requestId';
    UPDATE wallets SET debits_pending = debits_pending + more WHERE account_id = account;
    UPDATE key_budgets SET held = held + more WHERE key_id = extension->>'keyId';
    RETURN '{"type": "extended"}';
  END $$`,

  // Takes back what is left of grants whose time is over, but leaves what running requests may need: of the plan's credit, where
  // that is all they were let in for.
  `CREATE OR REPLACE FUNCTION ledger_expire(now_ms BIGINT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    credit RECORD;
    wallet RECORD;
    free BIGINT;
    rest BIGINT;
    taken BIGINT;
    expired INT := 0;
  BEGIN
    FOR credit IN SELECT id, account_id, kind FROM grants WHERE expires_at <= now_ms AND remaining > 0 ORDER BY expires_at, id LIMIT 500 LOOP
      -- Which 500 these are may have changed since the wallets were locked, so the lock is made sure of and the grant read after it.
      SELECT * INTO wallet FROM wallets WHERE account_id = credit.account_id FOR UPDATE;
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
];
