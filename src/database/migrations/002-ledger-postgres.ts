/**
 * The ledger's operations on PostgreSQL as functions, so that a batch is one round trip and one transaction. They do
 * what `ledger/sqlite-apply.ts` does on the embedded database; one suite of tests runs on both.
 *
 * A wallet's lock guards everything of its account: holds, grants, budgets. All wallets of a batch are locked first, in
 * sorted order, so two batches never wait for each other in a circle.
 */
export const LEDGER_FUNCTIONS: readonly string[] = [
  `CREATE FUNCTION clock_ms() RETURNS BIGINT LANGUAGE sql AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT $$`,

  `CREATE FUNCTION budget_window(period TEXT, now_ms BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'day' THEN now_ms - now_ms % 86400000
      WHEN 'week' THEN now_ms - (now_ms - 345600000) % 604800000
      WHEN 'month' THEN (extract(epoch FROM date_trunc('month', to_timestamp(now_ms / 1000.0) AT TIME ZONE 'UTC')) * 1000)::BIGINT
      ELSE 0 END $$`,

  // A new window begins with nothing spent; what is held stays held. In plpgsql, because that remembers its plan: a function
  // in SQL is planned with every call, and half the time of a batch went there.
  `CREATE FUNCTION turn_budgets(key TEXT, now_ms BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE key_budgets SET spent = 0, window_start = budget_window(period, now_ms)
    WHERE key_id = key AND window_start < budget_window(period, now_ms);
  END $$`,

  `CREATE FUNCTION ledger_hold(hold JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    wanted BIGINT := (hold->>'amount')::BIGINT;
    minimum BIGINT := (hold->>'minimum')::BIGINT;
    now_ms BIGINT := (hold->>'createdAtMs')::BIGINT;
    available BIGINT;
    budget RECORD;
    taken BIGINT;
  BEGIN
    SELECT amount INTO taken FROM holds WHERE id = hold->>'requestId';
    IF FOUND THEN RETURN jsonb_build_object('type', 'held', 'amount', taken::TEXT); END IF;
    SELECT credits_posted - debits_posted - debits_pending INTO STRICT available FROM wallets WHERE account_id = hold->>'accountId';
    IF minimum > 0 AND available < minimum THEN
      RETURN jsonb_build_object('type', 'insufficient_funds', 'available', available::TEXT);
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

  `CREATE FUNCTION ledger_extend(extension JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    more BIGINT := (extension->>'amount')::BIGINT;
  BEGIN
    PERFORM turn_budgets(extension->>'keyId', clock_ms());
    IF EXISTS (SELECT 1 FROM wallets WHERE account_id = extension->>'accountId' AND credits_posted - debits_posted - debits_pending < more)
      OR EXISTS (SELECT 1 FROM key_budgets WHERE key_id = extension->>'keyId' AND amount - spent - held < more) THEN
      RETURN '{"type": "refused"}';
    END IF;
    UPDATE holds SET amount = amount + more WHERE id = extension->>'requestId';
    IF NOT FOUND THEN RETURN '{"type": "refused"}'; END IF;
    UPDATE wallets SET debits_pending = debits_pending + more WHERE account_id = extension->>'accountId';
    UPDATE key_budgets SET held = held + more WHERE key_id = extension->>'keyId';
    RETURN '{"type": "extended"}';
  END $$`,

  `CREATE FUNCTION ledger_progress(progress JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    counts JSONB := progress->'usage';
  BEGIN
    UPDATE holds SET progress = (ledger_progress.progress->>'cost')::BIGINT, provider = ledger_progress.progress->>'provider',
      input_tokens = (counts->>'inputTokens')::BIGINT, cached_input_tokens = (counts->>'cachedInputTokens')::BIGINT,
      cache_write_tokens = (counts->>'cacheWriteTokens')::BIGINT, output_tokens = (counts->>'outputTokens')::BIGINT,
      reasoning_tokens = (counts->>'reasoningTokens')::BIGINT
    WHERE id = ledger_progress.progress->>'requestId';
    RETURN '{"type": "recorded"}';
  END $$`,

  // Credit that ends first is used first. What no grant covers is the account's debt.
  `CREATE FUNCTION draw_grants(account TEXT, cost BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
  DECLARE
    rest BIGINT := cost;
    credit RECORD;
  BEGIN
    FOR credit IN SELECT id, remaining FROM grants WHERE account_id = account AND remaining > 0
      ORDER BY expires_at NULLS LAST, created_at, id LOOP
      EXIT WHEN rest = 0;
      UPDATE grants SET remaining = remaining - least(credit.remaining, rest) WHERE id = credit.id;
      rest := rest - least(credit.remaining, rest);
    END LOOP;
  END $$`,

  // Deleting the hold row is what makes this happen at most once: who deletes nothing, writes nothing.
  `CREATE FUNCTION ledger_settle(settlement JSONB) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    request TEXT := settlement->>'requestId';
    account TEXT := settlement->>'accountId';
    key TEXT := settlement->>'keyId';
    charge BIGINT := (settlement->>'cost')::BIGINT;
    began BIGINT := (settlement->>'createdAtMs')::BIGINT;
    took BIGINT := (settlement->>'durationMs')::BIGINT;
    counts JSONB := settlement->'usage';
    released BIGINT;
  BEGIN
    DELETE FROM holds WHERE id = request RETURNING amount INTO released;
    IF NOT FOUND THEN RETURN '{"type": "resolved_before"}'; END IF;
    INSERT INTO usage (request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, is_estimated, price_version, cost, held, outcome, first_token_ms, duration_ms, attempts, created_at)
    VALUES (request, account, key, settlement->>'model', settlement->>'provider', (counts->>'inputTokens')::BIGINT,
      (counts->>'cachedInputTokens')::BIGINT, (counts->>'cacheWriteTokens')::BIGINT, (counts->>'outputTokens')::BIGINT,
      (counts->>'reasoningTokens')::BIGINT, (settlement->>'isEstimated')::BOOLEAN::INT, (settlement->>'priceVersion')::BIGINT, charge, released,
      settlement->>'outcome', (settlement->>'firstTokenMs')::BIGINT, took, (settlement->>'attempts')::BIGINT, began)
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
    INSERT INTO usage_rollups AS rollup (account_id, key_id, model, quarter_hour, requests, errors, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, cost)
    VALUES (account, key, settlement->>'model', began - began % 900000, 1, (settlement->>'outcome' = 'failed')::INT,
      (counts->>'inputTokens')::BIGINT, (counts->>'cachedInputTokens')::BIGINT, (counts->>'cacheWriteTokens')::BIGINT,
      (counts->>'outputTokens')::BIGINT, charge)
    ON CONFLICT (account_id, key_id, model, quarter_hour) DO UPDATE SET requests = rollup.requests + 1,
      errors = rollup.errors + excluded.errors, input_tokens = rollup.input_tokens + excluded.input_tokens,
      cached_input_tokens = rollup.cached_input_tokens + excluded.cached_input_tokens,
      cache_write_tokens = rollup.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = rollup.output_tokens + excluded.output_tokens, cost = rollup.cost + excluded.cost;
    RETURN '{"type": "settled"}';
  END $$`,

  // The holds of nodes that have not been heard of for 30 seconds of this database's clock.
  `CREATE FUNCTION orphaned_holds(node TEXT) RETURNS SETOF holds LANGUAGE sql AS $$
    SELECT holds.* FROM holds LEFT JOIN nodes USING (node_id)
    WHERE holds.node_id <> node AND COALESCE(nodes.heartbeat, 0) < clock_ms() - 30000 ORDER BY holds.id LIMIT 500 $$`,

  // Who works, lives: with its first work a node that was not heard of for a while is alive again, or others would take the new
  // hold for that of a dead one. It begins a new epoch then.
  `CREATE FUNCTION hear_of(node TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE nodes SET heartbeat = clock_ms(), epoch = CASE WHEN heartbeat < clock_ms() - 30000 THEN clock_ms() ELSE epoch END
    WHERE node_id = node AND heartbeat < clock_ms() - 10000;
  END $$`,

  // Says that this node lives, and settles what dead ones left open at the progress they recorded. In the first 30 seconds of a
  // new epoch it does not: when the database was away, it cannot tell the dead from those that were cut off like itself.
  `CREATE FUNCTION ledger_recover(node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
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
        'model', orphan.model, 'provider', orphan.provider, 'isEstimated', orphan.progress > 0, 'priceVersion', orphan.price_version,
        'cost', least(orphan.progress, orphan.amount), 'outcome', 'recovered', 'attempts', 0, 'failedAttempts', '[]'::JSONB,
        'createdAtMs', orphan.created_at, 'durationMs', greatest(0, clock_ms() - orphan.created_at),
        'usage', jsonb_build_object('inputTokens', orphan.input_tokens, 'cachedInputTokens', orphan.cached_input_tokens,
          'cacheWriteTokens', orphan.cache_write_tokens, 'outputTokens', orphan.output_tokens,
          'reasoningTokens', orphan.reasoning_tokens)))->>'type' = 'settled' THEN recovered := recovered + 1; END IF;
    END LOOP;
    DELETE FROM nodes WHERE heartbeat < clock_ms() - 86400000 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.node_id = nodes.node_id);
    RETURN jsonb_build_object('type', 'done', 'count', recovered);
  END $$`,

  // Takes back what is left of grants whose time is over, but leaves what running requests may need.
  `CREATE FUNCTION ledger_expire(now_ms BIGINT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    credit RECORD;
    free BIGINT;
    rest BIGINT;
    taken BIGINT;
    expired INT := 0;
  BEGIN
    FOR credit IN SELECT id, account_id FROM grants WHERE expires_at <= now_ms AND remaining > 0 ORDER BY expires_at, id LIMIT 500 LOOP
      -- Which 500 these are may have changed since the wallets were locked, so the lock is made sure of and the grant read after it.
      SELECT credits_posted - debits_posted - debits_pending INTO free FROM wallets WHERE account_id = credit.account_id FOR UPDATE;
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

  // Drops the oldest usage rows, as many as a transaction should; their transfers and roll-ups stay.
  `CREATE FUNCTION ledger_prune(before_id TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    dropped INT;
  BEGIN
    DELETE FROM usage WHERE request_id IN (SELECT request_id FROM usage WHERE request_id < before_id ORDER BY request_id LIMIT 500);
    GET DIAGNOSTICS dropped = ROW_COUNT;
    DELETE FROM attempts WHERE request_id < before_id AND request_id < (SELECT COALESCE(MIN(request_id), before_id) FROM usage);
    RETURN jsonb_build_object('type', 'done', 'count', dropped);
  END $$`,

  `CREATE FUNCTION ledger_apply(operations JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    operation JSONB;
    results JSONB[] := '{}';
  BEGIN
    PERFORM hear_of(node);
    PERFORM 1 FROM wallets WHERE account_id IN (
      SELECT COALESCE(entry->'hold', entry->'extension', entry->'progress', entry->'settlement')->>'accountId'
      FROM jsonb_array_elements(operations) AS entry
      UNION SELECT account_id FROM orphaned_holds(node) WHERE operations @> '[{"type": "recover"}]'
      UNION SELECT account_id FROM (SELECT account_id FROM jsonb_array_elements(operations) AS entry, grants
        WHERE entry->>'type' = 'expire' AND expires_at <= (entry->>'nowMs')::BIGINT AND remaining > 0 ORDER BY expires_at, id LIMIT 500) AS ended
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
