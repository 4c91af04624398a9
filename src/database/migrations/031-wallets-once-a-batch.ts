import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * A batch writes each wallet, grant and roll-up once, however many of its operations change it, as `ledger/sqlite-books.ts` does on the
 * embedded database. When every operation wrote them, a busy account took three times as long, and ever longer while a dump or a report kept
 * the old versions of its rows alive.
 *
 * Functions that are no longer called stay: a batch that runs during the migration may still need them.
 */
export async function walletsOnceABatch(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const FUNCTIONS = [
  // Generic plans, because a plan made for the length of an array is made anew for every batch, and that took half its time.
  `CREATE OR REPLACE FUNCTION ledger_apply(operations JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    batch JSONB[] := ARRAY(SELECT jsonb_array_elements(operations));
    results JSONB[] := '{}';
    account TEXT;
    entry RECORD;
    part JSONB[] := '{}';
    requests TEXT[] := '{}';
  BEGIN
    -- Who works, lives: otherwise others would take the new holds of a node that was silent for a while for those of a dead one.
    UPDATE nodes SET heartbeat = clock_ms(), epoch = CASE WHEN heartbeat < clock_ms() - 30000 THEN clock_ms() ELSE epoch END
    WHERE node_id = node AND heartbeat < clock_ms() - 10000;
    IF (SELECT COUNT(*) = COUNT(DISTINCT request_of(operation)) FROM unnest(batch) AS operation) THEN
      RETURN to_jsonb(ledger_requests(batch, node));
    END IF;

    -- Maintenance, or several operations of one request: everything in its turn. All wallets are locked first, in sorted order, so two
    -- batches never wait for each other in a circle. Only ledger_expire locks others, and never waits for one.
    FOR account IN
      SELECT account_of(operation) AS id FROM unnest(batch) AS operation
      UNION SELECT account_id FROM orphaned_holds(node) WHERE operations @> '[{"type": "recover"}]'
      ORDER BY id LOOP
      PERFORM 1 FROM wallets WHERE account_id = account FOR UPDATE;
    END LOOP;
    FOR entry IN SELECT operation, request_of(operation) AS request FROM unnest(batch) AS operation LOOP
      IF entry.request IS NULL OR entry.request = ANY (requests) THEN
        results := results || ledger_requests(part, node);
        part := '{}';
        requests := '{}';
      END IF;
      IF entry.request IS NOT NULL THEN
        part := part || entry.operation;
        requests := requests || entry.request;
        CONTINUE;
      END IF;
      results := results || CASE entry.operation->>'type'
        WHEN 'recover' THEN ledger_recover(node)
        WHEN 'expire' THEN ledger_expire((entry.operation->>'nowMs')::BIGINT)
        WHEN 'prune' THEN ledger_prune(entry.operation->>'beforeId')
      END;
    END LOOP;
    RETURN to_jsonb(results || ledger_requests(part, node));
  END $$`,

  `CREATE FUNCTION entry_of(operation JSONB) RETURNS JSONB LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(operation->'hold', operation->'settlement', operation->'extension', operation->'progress') $$`,
  `CREATE FUNCTION account_of(operation JSONB) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT entry_of(operation)->>'accountId' $$`,
  `CREATE FUNCTION request_of(operation JSONB) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT entry_of(operation)->>'requestId' $$`,

  // What requests do, each at most once in a call: account by account, because accounts have nothing in common, and in the order given.
  `CREATE FUNCTION ledger_requests(operations JSONB[], node TEXT) RETURNS JSONB[] LANGUAGE plpgsql AS $$
  DECLARE
    results JSONB[] := array_fill(NULL::JSONB, ARRAY[cardinality(operations)]);
    -- By the place of the operation: what a hold has reserved, or had when it was settled, and what plans and promotions paid of the cost.
    reserved BIGINT[] := array_fill(NULL::BIGINT, ARRAY[cardinality(operations)]);
    plan_parts BIGINT[] := reserved;
    promo_parts BIGINT[] := reserved;
    has_held BOOLEAN := FALSE;
    has_settled BOOLEAN := FALSE;
    wallet RECORD;
    posted BIGINT;
    pending BIGINT;
    plan_left BIGINT;
    credit RECORD;
    credit_left BIGINT;
    entry RECORD;
    available BIGINT;
    minimum BIGINT;
    wanted BIGINT;
    budget RECORD;
    rest BIGINT;
    taken BIGINT;
  BEGIN
    FOR wallet IN
      SELECT account, credits_posted, debits_posted, debits_pending, plan_resets_at, own_operations, places
      FROM (SELECT account_of(operation) AS account, array_agg(operation ORDER BY place) AS own_operations,
          array_agg(place ORDER BY place) AS places
        FROM unnest(operations) WITH ORDINALITY AS element (operation, place) GROUP BY 1 ORDER BY 1) AS part
      -- One by one and in sorted order: a join would read all wallets, and lock them in any order.
      LEFT JOIN LATERAL (SELECT * FROM wallets WHERE account_id = account FOR UPDATE) AS locked ON TRUE
    LOOP
      IF wallet.credits_posted IS NULL THEN RAISE EXCEPTION 'The account has no wallet'; END IF;
      posted := wallet.debits_posted;
      pending := wallet.debits_pending;
      plan_left := CASE WHEN wallet.plan_resets_at IS NOT NULL THEN plan_credit(wallet.account) END;
      credit := NULL;
      -- Read now, when the lock has been granted. As scalar subqueries, because EXISTS may read a whole table.
      FOR entry IN
        SELECT place, operation->>'type' AS type, body, request, key, (SELECT amount FROM holds WHERE id = request) AS held,
          (SELECT TRUE FROM usage WHERE request_id = request) IS NOT NULL AS is_charged,
          (SELECT TRUE FROM key_budgets WHERE key_id = key LIMIT 1) IS NOT NULL AS has_budgets
        FROM unnest(wallet.own_operations, wallet.places) AS element (operation, place),
          LATERAL (SELECT entry_of(operation) AS body, entry_of(operation)->>'requestId' AS request, entry_of(operation)->>'keyId' AS key) AS parts
      LOOP
        available := least(wallet.credits_posted - posted, plan_left) - pending;
        CASE entry.type
          WHEN 'hold' THEN
            -- A repeat after a lost reply: its own money must not count as missing, and it must not move a budget's window.
            IF entry.held IS NOT NULL THEN
              results[entry.place] := jsonb_build_object('type', 'held', 'amount', entry.held::TEXT);
              CONTINUE;
            END IF;
            minimum := (entry.body->>'minimum')::BIGINT;
            IF minimum > 0 AND available < minimum THEN
              results[entry.place] := CASE WHEN wallet.plan_resets_at IS NULL
                THEN jsonb_build_object('type', 'insufficient_funds', 'available', available::TEXT)
                ELSE jsonb_build_object('type', 'plan_exhausted', 'available', available::TEXT, 'resetsAtMs', wallet.plan_resets_at) END;
              CONTINUE;
            END IF;
            IF entry.has_budgets THEN
              SELECT * INTO budget FROM budget_room(entry.key, minimum, (entry.body->>'createdAtMs')::BIGINT);
              results[entry.place] := budget.refusal;
              CONTINUE WHEN budget.refusal IS NOT NULL;
              available := least(available, budget.room);
            END IF;
            wanted := (entry.body->>'amount')::BIGINT;
            IF wanted > available AND wanted > minimum THEN wanted := available; END IF;
            pending := pending + wanted;
            IF entry.has_budgets THEN UPDATE key_budgets SET held = held + wanted WHERE key_id = entry.key; END IF;
            reserved[entry.place] := wanted;
            has_held := TRUE;
            results[entry.place] := jsonb_build_object('type', 'held', 'amount', wanted::TEXT);

          WHEN 'settle' THEN
            -- At most once: only the call that deletes the hold writes anything.
            results[entry.place] := '{"type": "resolved_before"}';
            CONTINUE WHEN entry.held IS NULL;
            DELETE FROM holds WHERE id = entry.request;
            pending := pending - entry.held;
            IF entry.has_budgets THEN UPDATE key_budgets SET held = held - entry.held WHERE key_id = entry.key; END IF;
            -- A hold that was repeated after its settlement is only released: the request was already charged.
            CONTINUE WHEN entry.is_charged;
            rest := (entry.body->>'cost')::BIGINT;
            posted := posted + rest;
            IF entry.has_budgets THEN
              PERFORM turn_budgets(entry.key, (entry.body->>'createdAtMs')::BIGINT);
              UPDATE key_budgets SET spent = spent + rest WHERE key_id = entry.key;
            END IF;
            -- What the account wants used first, then what ends first. What no grant covers is the account's debt.
            WHILE rest > 0 LOOP
              IF credit IS NULL OR credit_left = 0 THEN
                IF credit IS NOT NULL THEN UPDATE grants SET remaining = 0, is_spent = 1 WHERE id = credit.id; END IF;
                SELECT id, kind, remaining INTO credit FROM grants WHERE account_id = wallet.account AND is_spent = 0
                ORDER BY draw_order, expires_at NULLS LAST, created_at, id LIMIT 1;
                EXIT WHEN NOT FOUND;
                credit_left := credit.remaining;
              END IF;
              taken := least(credit_left, rest);
              credit_left := credit_left - taken;
              rest := rest - taken;
              IF credit.kind = 'plan' THEN
                plan_parts[entry.place] := COALESCE(plan_parts[entry.place], 0) + taken;
                plan_left := plan_left - taken;
              ELSIF credit.kind = 'promo' THEN
                promo_parts[entry.place] := COALESCE(promo_parts[entry.place], 0) + taken;
              END IF;
            END LOOP;
            reserved[entry.place] := entry.held;
            has_settled := TRUE;
            results[entry.place] := '{"type": "settled"}';

          WHEN 'extend' THEN
            results[entry.place] := '{"type": "refused"}';
            CONTINUE WHEN entry.held IS NULL;
            wanted := (entry.body->>'total')::BIGINT - entry.held;
            -- Otherwise it is the same extension again, because its first answer got lost.
            IF wanted > 0 THEN
              IF entry.has_budgets THEN
                SELECT * INTO budget FROM budget_room(entry.key, 0, clock_ms());
                available := least(available, budget.room);
              END IF;
              CONTINUE WHEN available < wanted;
              pending := pending + wanted;
              IF entry.has_budgets THEN UPDATE key_budgets SET held = held + wanted WHERE key_id = entry.key; END IF;
              UPDATE holds SET amount = amount + wanted WHERE id = entry.request;
            END IF;
            results[entry.place] := '{"type": "extended"}';

          WHEN 'progress' THEN
            PERFORM ledger_progress(entry.body);
            results[entry.place] := '{"type": "recorded"}';
        END CASE;
      END LOOP;
      IF posted <> wallet.debits_posted OR pending <> wallet.debits_pending THEN
        UPDATE wallets SET debits_posted = posted, debits_pending = pending WHERE account_id = wallet.account;
      END IF;
      IF credit IS NOT NULL THEN UPDATE grants SET remaining = credit_left, is_spent = (credit_left = 0)::INT WHERE id = credit.id; END IF;
    END LOOP;
    IF has_held THEN PERFORM record_holds(operations, reserved, node); END IF;
    IF has_settled THEN PERFORM record_charges(operations, reserved, plan_parts, promo_parts); END IF;
    RETURN results;
  END $$`,

  // What a key's budgets leave for a request, and why that is too little.
  `CREATE FUNCTION budget_room(key TEXT, minimum BIGINT, now_ms BIGINT, OUT room BIGINT, OUT refusal JSONB) LANGUAGE plpgsql AS $$
  DECLARE
    budget RECORD;
    free_at BIGINT;
  BEGIN
    PERFORM turn_budgets(key, now_ms);
    FOR budget IN SELECT *, CASE WHEN is_paced = 1 THEN budget_allowed(key_budgets, now_ms) ELSE amount END - spent - held AS left_over
      FROM key_budgets WHERE key_id = key ORDER BY period LOOP
      room := least(room, budget.left_over);
      CONTINUE WHEN minimum = 0 OR budget.left_over >= minimum;
      free_at := CASE WHEN budget.is_paced = 1 AND budget.spent + minimum <= budget.amount THEN
        budget_free_at(budget.amount, budget.spent + budget.held + minimum, budget.window_start, budget.window_end) END;
      -- Of several refusals the one that lasts longest: waiting for another would be in vain.
      IF refusal IS NULL OR (refusal->>'freeAtMs')::BIGINT < COALESCE(free_at, 9223372036854775807) THEN
        refusal := jsonb_strip_nulls(jsonb_build_object('type', 'budget_exhausted', 'available', budget.left_over::TEXT,
          'period', budget.period, 'freeAtMs', free_at));
      END IF;
    END LOOP;
  END $$`,

  `CREATE FUNCTION record_holds(operations JSONB[], reserved BIGINT[], node TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO holds (id, account_id, key_id, model, price_version, amount, node_id, created_at)
    SELECT hold->>'requestId', hold->>'accountId', hold->>'keyId', hold->>'model', (hold->>'priceVersion')::BIGINT, amount, node,
      (hold->>'createdAtMs')::BIGINT
    FROM unnest(operations, reserved) AS element (operation, amount), LATERAL (SELECT operation->'hold' AS hold) AS entry
    WHERE hold IS NOT NULL AND amount IS NOT NULL;
  END $$`,

  `CREATE FUNCTION record_charges(operations JSONB[], reserved BIGINT[], plan_parts BIGINT[], promo_parts BIGINT[]) RETURNS VOID
  LANGUAGE plpgsql AS $$
  BEGIN
    WITH settled AS MATERIALIZED (
      SELECT body, body->>'requestId' AS request_id, body->>'accountId' AS account_id, body->>'keyId' AS key_id, body->>'model' AS model,
        body->>'provider' AS provider, (counts->>'inputTokens')::BIGINT AS input_tokens,
        (counts->>'cachedInputTokens')::BIGINT AS cached_input_tokens, (counts->>'cacheWriteTokens')::BIGINT AS cache_write_tokens,
        (counts->>'outputTokens')::BIGINT AS output_tokens, (counts->>'reasoningTokens')::BIGINT AS reasoning_tokens,
        (body->>'cost')::BIGINT AS cost, held, body->>'outcome' AS outcome, (body->>'firstTokenMs')::BIGINT AS first_token_ms,
        (body->>'durationMs')::BIGINT AS duration_ms, (body->>'createdAtMs')::BIGINT AS created_at, plan_cost, promo_cost
      FROM unnest(operations, reserved, plan_parts, promo_parts) AS element (operation, held, plan_cost, promo_cost),
        LATERAL (SELECT operation->'settlement' AS body, operation->'settlement'->'usage' AS counts) AS entry
      WHERE body IS NOT NULL AND held IS NOT NULL
    ), used AS (
      INSERT INTO usage (request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, is_estimated, price_version, cost, held, outcome, first_token_ms, duration_ms, attempts,
        created_at, is_streaming, finish_reason, error_code, served_model, end_user, plan_cost, promo_cost)
      SELECT request_id, account_id, key_id, model, provider, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, (body->>'isEstimated')::BOOLEAN::INT, (body->>'priceVersion')::BIGINT, cost, held, outcome,
        first_token_ms, duration_ms, (body->>'attempts')::BIGINT, created_at, COALESCE((body->>'isStreaming')::BOOLEAN, FALSE)::INT,
        body->>'finishReason', body->>'errorCode', COALESCE(body->>'servedModel', ''), body->>'endUser',
        CASE WHEN promo_cost IS NULL THEN plan_cost ELSE COALESCE(plan_cost, 0) END,
        CASE WHEN plan_cost IS NULL THEN promo_cost ELSE COALESCE(promo_cost, 0) END
      FROM settled
    ), charged AS (
      INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
      SELECT request_id, 'wallet:' || account_id, 'revenue', cost, 'usage', '', created_at + duration_ms FROM settled WHERE cost > 0
    ), tried AS (
      INSERT INTO attempts (request_id, n, provider, outcome, duration_ms)
      SELECT request_id, n, attempt->>'provider', attempt->>'outcome', (attempt->>'durationMs')::BIGINT
      FROM settled, jsonb_array_elements(body->'failedAttempts') WITH ORDINALITY AS failed (attempt, n)
    )
    INSERT INTO usage_rollups AS rollup (account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms)
    SELECT account_id, key_id, model, provider, created_at - created_at % 900000, COUNT(*), COUNT(*) FILTER (WHERE outcome = 'failed'),
      SUM(input_tokens), SUM(cached_input_tokens), SUM(cache_write_tokens), SUM(output_tokens), SUM(reasoning_tokens), SUM(cost),
      COALESCE(SUM(first_token_ms), 0), COUNT(first_token_ms), SUM(duration_ms)
    FROM settled GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (account_id, key_id, model, provider, quarter_hour) DO UPDATE SET requests = rollup.requests + excluded.requests,
      errors = rollup.errors + excluded.errors, input_tokens = rollup.input_tokens + excluded.input_tokens,
      cached_input_tokens = rollup.cached_input_tokens + excluded.cached_input_tokens,
      cache_write_tokens = rollup.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = rollup.output_tokens + excluded.output_tokens, reasoning_tokens = rollup.reasoning_tokens + excluded.reasoning_tokens,
      cost = rollup.cost + excluded.cost, first_token_ms = rollup.first_token_ms + excluded.first_token_ms,
      first_token_count = rollup.first_token_count + excluded.first_token_count, duration_ms = rollup.duration_ms + excluded.duration_ms;
  END $$`,

  // Says that this node lives, and settles what dead ones left open at the progress they recorded. In the first 30 seconds of a
  // new epoch it does not: when the database was away, it cannot tell the dead from those that were cut off like itself.
  `CREATE OR REPLACE FUNCTION ledger_recover(node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    began BIGINT;
    recovered INT;
  BEGIN
    INSERT INTO nodes (node_id, epoch, heartbeat) VALUES (node, 0, clock_ms())
    ON CONFLICT (node_id) DO UPDATE SET heartbeat = excluded.heartbeat RETURNING epoch INTO began;
    IF began > clock_ms() - 30000 THEN RETURN '{"type": "done", "count": 0}'; END IF;
    SELECT COUNT(*) INTO recovered FROM unnest(ledger_requests(ARRAY(
      SELECT jsonb_build_object('type', 'settle', 'settlement', jsonb_build_object('requestId', id,
        'accountId', account_id, 'keyId', key_id, 'model', model, 'provider', provider, 'isEstimated', progress > 0,
        'isStreaming', progress > 0, 'priceVersion', price_version, 'cost', least(progress, amount), 'outcome', 'recovered',
        'attempts', 0, 'failedAttempts', '[]'::JSONB, 'createdAtMs', created_at, 'durationMs', greatest(0, clock_ms() - created_at),
        'usage', jsonb_build_object('inputTokens', input_tokens, 'cachedInputTokens', cached_input_tokens,
          'cacheWriteTokens', cache_write_tokens, 'outputTokens', output_tokens, 'reasoningTokens', reasoning_tokens)))
      FROM orphaned_holds(node)), node)) AS result WHERE result->>'type' = 'settled';
    DELETE FROM nodes WHERE heartbeat < clock_ms() - 86400000 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.node_id = nodes.node_id);
    RETURN jsonb_build_object('type', 'done', 'count', recovered);
  END $$`,
];
