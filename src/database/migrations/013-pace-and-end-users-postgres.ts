/**
 * The functions of the ledger that know budgets which slow down, and the zones of their windows. They do what
 * `ledger/budget.ts` does on the embedded database. Nodes of the version before take a key that is slowed down for one that stops.
 */
export const PACE_FUNCTIONS: readonly string[] = [
  // The window that a moment is in, by the calendar of a zone. A zone that this database does not know is taken for UTC: one key must
  // not stop the ledger.
  `CREATE FUNCTION budget_span(period TEXT, now_ms BIGINT, zone TEXT, OUT start_ms BIGINT, OUT end_ms BIGINT) LANGUAGE plpgsql AS $$
  DECLARE
    first TIMESTAMP;
  BEGIN
    IF period = 'total' THEN start_ms := 0; RETURN; END IF;
    first := date_trunc(period, to_timestamp(now_ms / 1000.0) AT TIME ZONE zone);
    start_ms := extract(epoch FROM first AT TIME ZONE zone) * 1000;
    end_ms := extract(epoch FROM (first + ('1 ' || period)::INTERVAL) AT TIME ZONE zone) * 1000;
  EXCEPTION WHEN invalid_parameter_value THEN
    SELECT utc.start_ms, utc.end_ms INTO start_ms, end_ms FROM budget_span(period, now_ms, 'UTC') AS utc;
  END $$`,

  // A new window begins with nothing spent; what is held stays held. Late news of an old window does not turn it back.
  `CREATE OR REPLACE FUNCTION turn_budgets(key TEXT, now_ms BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
  DECLARE
    budget RECORD;
    fresh RECORD;
  BEGIN
    FOR budget IN SELECT period, zone FROM key_budgets WHERE key_id = key AND window_end <= now_ms LOOP
      SELECT * INTO fresh FROM budget_span(budget.period, now_ms, budget.zone);
      UPDATE key_budgets SET spent = CASE WHEN fresh.start_ms > window_start THEN 0 ELSE spent END,
        window_start = greatest(window_start, fresh.start_ms), window_end = fresh.end_ms
      WHERE key_id = key AND period = budget.period;
    END LOOP;
  END $$`,

  // How much may be spent and held at a moment: the last fifth of a budget that slows down is let out evenly over its window.
  `CREATE FUNCTION budget_allowed(budget key_budgets, now_ms BIGINT) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN
    IF budget.window_end IS NULL THEN RETURN budget.amount; END IF;
    RETURN budget.amount - budget.amount / 5 + div((budget.amount / 5)::NUMERIC
      * least(greatest(0, now_ms - budget.window_start), budget.window_end - budget.window_start),
      budget.window_end - budget.window_start);
  END $$`,

  // When so much will be allowed; at the latest when the window ends, for then everything begins anew.
  `CREATE FUNCTION budget_free_at(amount BIGINT, wanted BIGINT, start_ms BIGINT, end_ms BIGINT) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE AS $$
  DECLARE
    paced BIGINT := amount / 5;
  BEGIN
    IF end_ms IS NULL OR wanted > amount OR paced = 0 THEN RETURN end_ms; END IF;
    RETURN start_ms + greatest(0, div((wanted - amount + paced)::NUMERIC * (end_ms - start_ms) + paced - 1, paced));
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
    free_at BIGINT;
    refusal JSONB;
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
    FOR budget IN SELECT *, CASE WHEN is_paced = 1 THEN budget_allowed(key_budgets, now_ms) ELSE amount END - spent - held AS left_over
      FROM key_budgets WHERE key_id = hold->>'keyId' ORDER BY period LOOP
      IF minimum > 0 AND budget.left_over < minimum THEN
        free_at := CASE WHEN budget.is_paced = 1 AND budget.spent + minimum <= budget.amount THEN
          budget_free_at(budget.amount, budget.spent + budget.held + minimum, budget.window_start, budget.window_end) END;
        -- Of several refusals the one that lasts longest: waiting for another would be in vain.
        IF refusal IS NULL OR (refusal->>'freeAtMs')::BIGINT < COALESCE(free_at, 9223372036854775807) THEN
          refusal := jsonb_strip_nulls(jsonb_build_object('type', 'budget_exhausted', 'available', budget.left_over::TEXT,
            'period', budget.period, 'freeAtMs', free_at));
        END IF;
      END IF;
      available := least(available, budget.left_over);
    END LOOP;
    IF refusal IS NOT NULL THEN RETURN refusal; END IF;
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
      OR EXISTS (SELECT 1 FROM key_budgets WHERE key_id = extension->>'keyId'
        AND CASE WHEN is_paced = 1 THEN budget_allowed(key_budgets, clock_ms()) ELSE amount END - spent - held < more) THEN
      RETURN '{"type": "refused"}';
    END IF;
    UPDATE holds SET amount = taken + more WHERE id = extension->>'requestId';
    UPDATE wallets SET debits_pending = debits_pending + more WHERE account_id = account;
    UPDATE key_budgets SET held = held + more WHERE key_id = extension->>'keyId';
    RETURN '{"type": "extended"}';
  END $$`,
];
