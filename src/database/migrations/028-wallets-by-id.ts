import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/**
 * However many accounts there are, a batch reads only the wallets of its own. Where one statement locked all of them, the planner expected
 * hundreds and preferred to read the whole table: 9 ms a batch with 30,000 accounts.
 */
export async function walletsById(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const FUNCTIONS = [
  // Wallets whose credit expires are not locked first, like others: ledger_expire never waits for one.
  `CREATE OR REPLACE FUNCTION ledger_apply(operations JSONB, node TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
  DECLARE
    account TEXT;
    operation JSONB;
    results JSONB[] := '{}';
  BEGIN
    PERFORM hear_of(node);
    -- In sorted order, so two batches never wait for each other in a circle.
    FOR account IN
      SELECT COALESCE(entry->'hold', entry->'extension', entry->'progress', entry->'settlement')->>'accountId' AS id
      FROM jsonb_array_elements(operations) AS entry
      UNION SELECT account_id FROM orphaned_holds(node) WHERE operations @> '[{"type": "recover"}]'
      ORDER BY id LOOP
      PERFORM 1 FROM wallets WHERE account_id = account FOR UPDATE;
    END LOOP;
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
