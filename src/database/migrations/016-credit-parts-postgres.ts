/** The functions of the ledger that know end users, and tell which credit a request was paid from. */
export const CREDIT_PART_FUNCTIONS: readonly string[] = [
  // What the account wants used first, then what ends first; gives what of it came from plans and from promotions.
  `CREATE FUNCTION draw_credit(account TEXT, cost BIGINT, OUT plan BIGINT, OUT promo BIGINT) LANGUAGE plpgsql AS $$
  DECLARE
    rest BIGINT := cost;
    taken BIGINT;
    credit RECORD;
  BEGIN
    plan := 0;
    promo := 0;
    FOR credit IN SELECT id, kind, remaining FROM grants WHERE account_id = account AND remaining > 0
      ORDER BY draw_order, expires_at NULLS LAST, created_at, id LOOP
      EXIT WHEN rest = 0;
      taken := least(credit.remaining, rest);
      UPDATE grants SET remaining = remaining - taken WHERE id = credit.id;
      rest := rest - taken;
      IF credit.kind = 'plan' THEN plan := plan + taken; END IF;
      IF credit.kind = 'promo' THEN promo := promo + taken; END IF;
    END LOOP;
  END $$`,

  // Deleting the hold row is what makes this happen at most once: who deletes nothing, writes nothing.
  `CREATE OR REPLACE FUNCTION ledger_settle(settlement JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    request TEXT := settlement->>'requestId';
    account TEXT := settlement->>'accountId';
    key TEXT := settlement->>'keyId';
    charge BIGINT := (settlement->>'cost')::BIGINT;
    began BIGINT := (settlement->>'createdAtMs')::BIGINT;
    took BIGINT := (settlement->>'durationMs')::BIGINT;
    first_token BIGINT := (settlement->>'firstTokenMs')::BIGINT;
    counts JSONB := settlement->'usage';
    released BIGINT;
    plan_part BIGINT;
    promo_part BIGINT;
  BEGIN
    DELETE FROM holds WHERE id = request RETURNING amount INTO released;
    IF NOT FOUND THEN RETURN '{"type": "resolved_before"}'; END IF;
    INSERT INTO usage (request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, is_estimated, price_version, cost, held, outcome, first_token_ms, duration_ms, attempts, created_at, is_streaming,
      finish_reason, error_code, served_model, end_user)
    VALUES (request, account, key, settlement->>'model', settlement->>'provider', (counts->>'inputTokens')::BIGINT,
      (counts->>'cachedInputTokens')::BIGINT, (counts->>'cacheWriteTokens')::BIGINT, (counts->>'outputTokens')::BIGINT,
      (counts->>'reasoningTokens')::BIGINT, (settlement->>'isEstimated')::BOOLEAN::INT, (settlement->>'priceVersion')::BIGINT, charge, released,
      settlement->>'outcome', first_token, took, (settlement->>'attempts')::BIGINT, began,
      COALESCE((settlement->>'isStreaming')::BOOLEAN, FALSE)::INT, settlement->>'finishReason', settlement->>'errorCode',
      COALESCE(settlement->>'servedModel', ''), settlement->>'endUser')
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      -- A hold that came again after its settlement is only given back: the request was charged.
      UPDATE wallets SET debits_pending = debits_pending - released WHERE account_id = account;
      UPDATE key_budgets SET held = held - released WHERE key_id = key;
      RETURN '{"type": "resolved_before"}';
    END IF;
    UPDATE wallets SET debits_pending = debits_pending - released, debits_posted = debits_posted + charge WHERE account_id = account;
    PERFORM turn_budgets(key, began);
    UPDATE key_budgets SET held = held - released, spent = spent + charge WHERE key_id = key;
    IF charge > 0 THEN
      INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
      VALUES (request, 'wallet:' || account, 'revenue', charge, 'usage', '', began + took);
      SELECT plan, promo INTO plan_part, promo_part FROM draw_credit(account, charge);
      IF plan_part + promo_part > 0 THEN
        UPDATE usage SET plan_cost = plan_part, promo_cost = promo_part WHERE request_id = request;
      END IF;
    END IF;
    INSERT INTO attempts (request_id, n, provider, outcome, duration_ms)
    SELECT request, n, attempt->>'provider', attempt->>'outcome', (attempt->>'durationMs')::BIGINT
    FROM jsonb_array_elements(settlement->'failedAttempts') WITH ORDINALITY AS failed (attempt, n);
    INSERT INTO usage_rollups AS rollup (account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms)
    VALUES (account, key, settlement->>'model', settlement->>'provider', began - began % 900000, 1, (settlement->>'outcome' = 'failed')::INT,
      (counts->>'inputTokens')::BIGINT, (counts->>'cachedInputTokens')::BIGINT, (counts->>'cacheWriteTokens')::BIGINT,
      (counts->>'outputTokens')::BIGINT, (counts->>'reasoningTokens')::BIGINT, charge, COALESCE(first_token, 0),
      (first_token IS NOT NULL)::INT, took)
    ON CONFLICT (account_id, key_id, model, provider, quarter_hour) DO UPDATE SET requests = rollup.requests + 1,
      errors = rollup.errors + excluded.errors, input_tokens = rollup.input_tokens + excluded.input_tokens,
      cached_input_tokens = rollup.cached_input_tokens + excluded.cached_input_tokens,
      cache_write_tokens = rollup.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = rollup.output_tokens + excluded.output_tokens, reasoning_tokens = rollup.reasoning_tokens + excluded.reasoning_tokens,
      cost = rollup.cost + excluded.cost, first_token_ms = rollup.first_token_ms + excluded.first_token_ms,
      first_token_count = rollup.first_token_count + excluded.first_token_count, duration_ms = rollup.duration_ms + excluded.duration_ms;
    RETURN '{"type": "settled"}';
  END $$`,
];
