import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';
import { USAGE_DETAIL_FUNCTIONS } from './004-usage-detail-postgres.ts';

/**
 * More about every request, and roll-ups by provider with times. Roll-ups are counted anew as far back as usage rows are
 * kept; older ones stay as they are, without a provider.
 */
export async function usageDetail(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  await runStatements(database, dialect, [...COLUMNS, ...ROLLUPS]);
  if (dialect === 'postgres') await runStatements(database, dialect, USAGE_DETAIL_FUNCTIONS);
}

const COLUMNS = [
  'ALTER TABLE usage ADD COLUMN is_streaming INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE usage ADD COLUMN finish_reason TEXT',
  'ALTER TABLE usage ADD COLUMN error_code TEXT',
  "ALTER TABLE usage ADD COLUMN served_model TEXT NOT NULL DEFAULT ''",
];

/** Of the quarter in which the oldest row is kept, others may have been dropped: it is counted no more. */
const FIRST_COUNTED = '(SELECT COALESCE(MIN(created_at), 9223372036854775807) FROM usage)';

const ROLLUPS = [
  'ALTER TABLE usage_rollups RENAME TO old_rollups',
  `CREATE TABLE usage_rollups (
    account_id TEXT NOT NULL, key_id TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, quarter_hour INTEGER NOT NULL,
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, cost INTEGER NOT NULL,
    first_token_ms INTEGER NOT NULL, first_token_count INTEGER NOT NULL, duration_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, key_id, model, provider, quarter_hour)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO usage_rollups SELECT account_id, key_id, model, provider, created_at - created_at % 900000, COUNT(*),
     SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END), SUM(input_tokens), SUM(cached_input_tokens), SUM(cache_write_tokens),
     SUM(output_tokens), SUM(reasoning_tokens), SUM(cost), SUM(COALESCE(first_token_ms, 0)), COUNT(first_token_ms), SUM(duration_ms)
   FROM usage WHERE created_at - created_at % 900000 >= ${FIRST_COUNTED}
   GROUP BY account_id, key_id, model, provider, created_at - created_at % 900000`,
  `INSERT INTO usage_rollups SELECT account_id, key_id, model, '', quarter_hour, requests, errors, input_tokens, cached_input_tokens,
     cache_write_tokens, output_tokens, 0, cost, 0, 0, 0
   FROM old_rollups WHERE quarter_hour < ${FIRST_COUNTED}`,
  'DROP TABLE old_rollups',
];
