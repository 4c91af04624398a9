import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * A hold that cannot be settled, for example because its account's wallet is gone, does not keep recovery from settling the others. It is
 * marked, reported once, and tried again after all others. `ledger/sqlite-apply.ts` does the same on the embedded database.
 */
export async function stuckHolds(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION orphaned_holds(node TEXT) RETURNS SETOF holds LANGUAGE sql AS $$
    SELECT holds.* FROM holds LEFT JOIN nodes USING (node_id)
    WHERE holds.node_id <> node AND COALESCE(nodes.heartbeat, 0) < clock_ms() - 30000 ORDER BY holds.node_id = 'stuck', holds.id LIMIT 500 $$`,

  // Says that this node lives, and settles what dead ones left open at the progress they recorded. In the first 30 seconds of a
  // new epoch it does not: when the database was away, it cannot tell the dead from those that were cut off like itself.
  `CREATE OR REPLACE FUNCTION ledger_recover(node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    began BIGINT;
    orphans JSONB[];
    orphan JSONB;
    recovered INT := 0;
    stuck TEXT[];
  BEGIN
    INSERT INTO nodes (node_id, epoch, heartbeat) VALUES (node, 0, clock_ms())
    ON CONFLICT (node_id) DO UPDATE SET heartbeat = excluded.heartbeat RETURNING epoch INTO began;
    IF began > clock_ms() - 30000 THEN RETURN '{"type": "done", "count": 0}'; END IF;
    orphans := ARRAY(
      SELECT jsonb_build_object('type', 'settle', 'settlement', jsonb_build_object('requestId', id,
        'accountId', account_id, 'keyId', key_id, 'model', model, 'provider', provider, 'isEstimated', progress > 0,
        'isStreaming', progress > 0, 'priceVersion', price_version, 'cost', least(progress, amount), 'outcome', 'recovered',
        'attempts', 0, 'failedAttempts', '[]'::JSONB, 'createdAtMs', created_at, 'durationMs', greatest(0, clock_ms() - created_at),
        'usage', jsonb_build_object('inputTokens', input_tokens, 'cachedInputTokens', cached_input_tokens,
          'cacheWriteTokens', cache_write_tokens, 'outputTokens', output_tokens, 'reasoningTokens', reasoning_tokens)))
      FROM orphaned_holds(node));
    BEGIN
      SELECT COUNT(*) INTO recovered FROM unnest(ledger_requests(orphans, node)) AS result WHERE result->>'type' = 'settled';
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
      FOREACH orphan IN ARRAY orphans LOOP
        BEGIN
          IF (ledger_requests(ARRAY[orphan], node))[1]->>'type' = 'settled' THEN recovered := recovered + 1; END IF;
        EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception THEN
          UPDATE holds SET node_id = 'stuck' WHERE id = request_of(orphan) AND node_id <> 'stuck';
          IF FOUND THEN stuck := stuck || request_of(orphan); END IF;
        END;
      END LOOP;
    END;
    DELETE FROM nodes WHERE heartbeat < clock_ms() - 86400000 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.node_id = nodes.node_id);
    RETURN jsonb_strip_nulls(jsonb_build_object('type', 'done', 'count', recovered, 'stuck', stuck));
  END $$`,
];
