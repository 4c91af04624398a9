/**
 * The functions of the ledger that know the new columns, and an extension that is harmless when it is repeated. Nodes of
 * the version before, which may still run, leave out what they do not know, and ask for `amount` more instead of a `total`.
 */
export const USAGE_DETAIL_FUNCTIONS: readonly string[] = [
  `CREATE OR REPLACE FUNCTION ledger_extend(extension JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    taken BIGINT;
    more BIGINT;
  BEGIN
    SELECT amount INTO taken FROM holds WHERE id = extension->>'requestId';
    IF NOT FOUND THEN RETURN '{"type": "refused"}'; END IF;
    more := COALESCE((extension->>'total')::BIGINT - taken, (extension->>'amount')::BIGINT);
    -- The same extension again, because its first answer got lost.
    IF more <= 0 THEN RETURN '{"type": "extended"}'; END IF;
    PERFORM turn_budgets(extension->>'keyId', clock_ms());
    IF EXISTS (SELECT 1 FROM wallets WHERE account_id = extension->>'accountId' AND credits_posted - debits_posted - debits_pending < more)
      OR EXISTS (SELECT 1 FROM key_budgets WHERE key_id = extension->>'keyId' AND amount - spent - held < more) THEN
      RETURN '{"type": "refused"}';
    END IF;
    UPDATE holds SET amount = taken + more WHERE id = extension->>'requestId';
    UPDATE wallets SET debits_pending = debits_pending + more WHERE account_id = extension->>'accountId';
    UPDATE key_budgets SET held = held + more WHERE key_id = extension->>'keyId';
    RETURN '{"type": "extended"}';
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
  BEGIN
    DELETE FROM holds WHERE id = request RETURNING amount INTO released;
    IF NOT FOUND THEN RETURN '{"type": "resolved_before"}'; END IF;
    INSERT INTO usage (request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, is_estimated, price_version, cost, held, outcome, first_token_ms, duration_ms, attempts, created_at, is_streaming,
      finish_reason, error_code, served_model)
    VALUES (request, account, key, settlement->>'model', settlement->>'provider', (counts->>'inputTokens')::BIGINT,
      (counts->>'cachedInputTokens')::BIGINT, (counts->>'cacheWriteTokens')::BIGINT, (counts->>'outputTokens')::BIGINT,
      (counts->>'reasoningTokens')::BIGINT, (settlement->>'isEstimated')::BOOLEAN::INT, (settlement->>'priceVersion')::BIGINT, charge, released,
      settlement->>'outcome', first_token, took, (settlement->>'attempts')::BIGINT, began,
      COALESCE((settlement->>'isStreaming')::BOOLEAN, FALSE)::INT, settlement->>'finishReason', settlement->>'errorCode',
      COALESCE(settlement->>'servedModel', ''))
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
      PERFORM draw_grants(account, charge);
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

  // Says that this node lives, and settles what dead ones left open at the progress they recorded; only streams record any. In the first
  // 30 seconds of a new epoch it does not: when the database was away, it cannot tell the dead from those that were cut off like itself.
  `CREATE OR REPLACE FUNCTION ledger_recover(node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    orphan RECORD;
    recovered INT := 0;
    began BIGINT;
  BEGIN
    INSERT INTO nodes (node_id, epoch, heartbeat) VALUES (node, 0, clock_ms())
    ON CONFLICT (node_id) DO UPDATE SET heartbeat = excluded.heartbeat RETURNING epoch INTO began;
    IF began > clock_ms() - 30000 THEN RETURN '{"type": "done", "count": 0}'; END IF;
    FOR orphan IN SELECT * FROM orphaned_holds(node) LOOP
      IF ledger_settle(jsonb_build_object('requestId', orphan.id, 'accountId', orphan.account_id, 'keyId', orphan.key_id,
        'model', orphan.model, 'provider', orphan.provider, 'isEstimated', orphan.progress > 0,
        'isStreaming', orphan.progress > 0, 'priceVersion', orphan.price_version,
        'cost', least(orphan.progress, orphan.amount), 'outcome', 'recovered', 'attempts', 0, 'failedAttempts', '[]'::JSONB,
        'createdAtMs', orphan.created_at, 'durationMs', greatest(0, clock_ms() - orphan.created_at),
        'usage', jsonb_build_object('inputTokens', orphan.input_tokens, 'cachedInputTokens', orphan.cached_input_tokens,
          'cacheWriteTokens', orphan.cache_write_tokens, 'outputTokens', orphan.output_tokens,
          'reasoningTokens', orphan.reasoning_tokens)))->>'type' = 'settled' THEN recovered := recovered + 1; END IF;
    END LOOP;
    DELETE FROM nodes WHERE heartbeat < clock_ms() - 86400000 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.node_id = nodes.node_id);
    RETURN jsonb_build_object('type', 'done', 'count', recovered);
  END $$`,
];
