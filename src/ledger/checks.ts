import { sql, type RawBuilder } from 'kysely';
import { QUARTER_HOUR_MS } from '../durations.ts';
import { idAt } from '../ids.ts';
import { ofAccounts, type Check, type Difference, type Scope } from './check.ts';
import { MONEY_IN_CHECKS } from './money-in-checks.ts';

/** The name of rule R5. Housekeeping reports abandoned holds under it. */
export const NO_OLD_HOLD = 'R5 no hold is older than the longest request';

/** Limits one end of the transfers to the wallets in scope. The condition on revenue lets the database use the index on credits. */
function ofWallets({ accountIds }: Scope, column: 'debit' | 'credit'): RawBuilder<unknown> {
  const notRevenue = sql`${sql.ref(column)} <> 'revenue'`;
  if (accountIds === undefined) return notRevenue;
  if (accountIds.length === 0) return sql`1 = 0`;
  return sql`${sql.ref(column)} IN (${sql.join(accountIds.map((id) => `wallet:${id}`))}) AND ${notRevenue}`;
}

/** Limits usage rows to the requests in scope. A request's id is made a moment before its time is taken. */
function ofRequests({ sinceMs }: Scope): RawBuilder<unknown> {
  return sinceMs === undefined ? sql`1 = 1` : sql`request_id >= ${idAt('req', sinceMs - QUARTER_HOUR_MS)}`;
}

/** Limits quarter hours to those in scope, the first one included. */
function ofQuarters({ sinceMs }: Scope, quarter: RawBuilder<unknown>): RawBuilder<unknown> {
  return sinceMs === undefined ? sql`1 = 1` : sql`${quarter} >= ${sinceMs - (sinceMs % QUARTER_HOUR_MS)}`;
}

/** The quarter hour that a usage row counts in. */
const QUARTER = sql`created_at - created_at % ${sql.lit(QUARTER_HOUR_MS)}`;

/** The expected cost of a usage row: its counts at its price version, rounded up once. A recovered row costs at most its hold. */
const RECOMPUTED = sql`CASE WHEN outcome = 'recovered' AND priced > held THEN held ELSE priced END`;

/** How often the input was read: once per provider call that did not fail. Recovered rows have no count of attempts. */
const PROMPTS = sql`CASE WHEN u.attempts < 2 THEN 1
  ELSE u.attempts - (SELECT COUNT(*) FROM attempts WHERE attempts.request_id = u.request_id) END`;

const PRICED_USAGE = sql`
  SELECT u.request_id, u.account_id, u.outcome, u.held, u.cost, u.price_version, CASE
    WHEN p.long_over IS NOT NULL AND u.input_tokens + u.cached_input_tokens + u.cache_write_tokens > p.long_over * ${PROMPTS}
    THEN (u.input_tokens * p.long_input + u.cached_input_tokens * p.long_cached_input + u.cache_write_tokens * p.long_cache_write
      + u.output_tokens * p.long_output + 999) / 1000
    ELSE (u.input_tokens * p.input + u.cached_input_tokens * p.cached_input + u.cache_write_tokens * p.cache_write
      + u.output_tokens * p.output + 999) / 1000 END AS priced
  FROM usage u LEFT JOIN (
    SELECT model, version, MAX(CASE WHEN item = 'input' THEN pico END) AS input,
      MAX(CASE WHEN item = 'cached_input' THEN pico END) AS cached_input, MAX(CASE WHEN item = 'cache_write' THEN pico END) AS cache_write,
      MAX(CASE WHEN item = 'output' THEN pico END) AS output, MAX(CASE WHEN item = 'long_over' THEN pico END) AS long_over,
      MAX(CASE WHEN item = 'long_input' THEN pico END) AS long_input,
      MAX(CASE WHEN item = 'long_cached_input' THEN pico END) AS long_cached_input,
      MAX(CASE WHEN item = 'long_cache_write' THEN pico END) AS long_cache_write,
      MAX(CASE WHEN item = 'long_output' THEN pico END) AS long_output
    FROM prices GROUP BY model, version
  ) p ON p.model = u.model AND p.version = u.price_version`;

/** The columns that roll-ups add up. Reports show the same ones. */
export const ROLLUP_SUMS = [
  'requests',
  'errors',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost',
  'first_token_ms',
  'first_token_count',
  'duration_ms',
] as const;

/**
 * The first moment to compare roll-ups from. Where old rows were dropped, the first quarter hour may be incomplete. Without rows there is
 * nothing to compare. The smallest id is the oldest row.
 */
const FIRST_COUNTED = sql`COALESCE((SELECT created_at FROM usage ORDER BY request_id LIMIT 1), 9223372036854775807)`;

/** The rules, in the order they are reported. */
export const CHECKS: readonly Check[] = [
  {
    name: 'R1 the sums of every wallet equal its transfers',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT account_id AS place, ABS(credits_posted - COALESCE(credited, 0)) + ABS(debits_posted - COALESCE(debited, 0)) AS difference
      FROM wallets
      LEFT JOIN (SELECT credit, SUM(amount) AS credited FROM transfers WHERE ${ofWallets(scope, 'credit')} GROUP BY credit) c
        ON c.credit = 'wallet:' || account_id
      LEFT JOIN (SELECT debit, SUM(amount) AS debited FROM transfers WHERE ${ofWallets(scope, 'debit')} GROUP BY debit) d
        ON d.debit = 'wallet:' || account_id
      WHERE ${ofAccounts(scope, 'account_id')} AND (credits_posted <> COALESCE(credited, 0) OR debits_posted <> COALESCE(debited, 0))`,
  },
  {
    name: 'R2 pending amounts of wallets and budgets equal their open holds',
    unit: 'usd',
    isPerAccount: true,
    // Open holds have no index by account: they are added up once, not searched for each wallet.
    statement: (scope) => sql<Difference>`
      SELECT wallets.account_id AS place, ABS(debits_pending - COALESCE(open, 0)) AS difference FROM wallets
      LEFT JOIN (SELECT account_id, SUM(amount) AS open FROM holds GROUP BY account_id) h ON h.account_id = wallets.account_id
      WHERE ${ofAccounts(scope, 'wallets.account_id')} AND debits_pending <> COALESCE(open, 0)
      UNION ALL
      SELECT key_budgets.key_id || ' ' || period AS place, ABS(held - COALESCE(open, 0)) AS difference
      FROM key_budgets JOIN api_keys ON api_keys.id = key_budgets.key_id
      LEFT JOIN (SELECT key_id, SUM(amount) AS open FROM holds GROUP BY key_id) h ON h.key_id = key_budgets.key_id
      WHERE ${ofAccounts(scope, 'api_keys.account_id')} AND held <> COALESCE(open, 0)`,
  },
  {
    name: 'R3 the remaining grants equal the balance, or zero if there is a debt',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT account_id AS place, ABS(remaining - balance) AS difference FROM (
        SELECT account_id, CASE WHEN credits_posted > debits_posted THEN credits_posted - debits_posted ELSE 0 END AS balance,
          (SELECT COALESCE(SUM(remaining), 0) FROM grants WHERE grants.account_id = wallets.account_id AND is_spent = 0) AS remaining
        FROM wallets WHERE ${ofAccounts(scope, 'account_id')}) w WHERE remaining <> balance`,
  },
  {
    name: 'R3 the grants of every account equal what came in',
    unit: 'usd',
    isPerAccount: false,
    // Credit from before there were grants has transfers with ids of another form.
    statement: () => sql<Difference>`
      SELECT wallets.account_id AS place, credits_posted - COALESCE(given, 0) AS difference FROM wallets
      LEFT JOIN (SELECT account_id, SUM(amount) AS given FROM grants GROUP BY account_id) g ON g.account_id = wallets.account_id
      WHERE credits_posted <> COALESCE(given, 0) AND NOT EXISTS (
        SELECT 1 FROM transfers WHERE credit = 'wallet:' || wallets.account_id AND credit <> 'revenue' AND id NOT LIKE '________-____-5%')`,
  },
  {
    name: 'R4 every charge has one transfer, and its cost follows from its token counts and prices',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT request_id AS place, ABS(cost - COALESCE(amount, 0)) AS difference FROM usage LEFT JOIN transfers
        ON transfers.id = request_id AND kind = 'usage' AND credit = 'revenue'
      WHERE ${ofAccounts(scope, 'account_id')} AND ${ofRequests(scope)} AND cost <> COALESCE(amount, 0)
      UNION ALL
      SELECT request_id AS place, ABS(cost - COALESCE(${RECOMPUTED}, 0)) AS difference FROM (${PRICED_USAGE}) priced
      WHERE ${ofAccounts(scope, 'account_id')} AND ${ofRequests(scope)} AND (cost <> ${RECOMPUTED} OR (priced IS NULL AND cost > 0 AND price_version > 0))`,
  },
  {
    name: 'R4 every charge has a usage row',
    unit: 'usd',
    isPerAccount: false,
    // Usage rows past their retention are gone but their transfers are not. Ids grow with time.
    statement: () => sql<Difference>`
      SELECT id AS place, amount AS difference FROM transfers
      WHERE kind = 'usage' AND id >= (SELECT MIN(request_id) FROM usage) AND NOT EXISTS (SELECT 1 FROM usage WHERE request_id = id)`,
  },
  {
    name: NO_OLD_HOLD,
    unit: 'rows',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT id AS place, 1 AS difference FROM holds
      WHERE ${ofAccounts(scope, 'account_id')} AND created_at < ${scope.nowMs - scope.longestRequestMs}`,
  },
  ...MONEY_IN_CHECKS,
  {
    name: 'R8 the roll-ups equal a recount of the usage',
    unit: 'rows',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT account_id || ' ' || key_id || ' ' || model || ' ' || provider || ' ' || quarter_hour AS place, 1 AS difference FROM (
        SELECT account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens, cached_input_tokens, cache_write_tokens,
          output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms FROM usage_rollups
        WHERE ${ofAccounts(scope, 'account_id')} AND quarter_hour >= ${FIRST_COUNTED} AND ${ofQuarters(scope, sql`quarter_hour`)}
        UNION ALL
        SELECT account_id, key_id, model, provider, ${QUARTER}, -1, CASE WHEN outcome = 'failed' THEN -1 ELSE 0 END,
          -input_tokens, -cached_input_tokens, -cache_write_tokens, -output_tokens, -reasoning_tokens, -cost, -COALESCE(first_token_ms, 0),
          CASE WHEN first_token_ms IS NULL THEN 0 ELSE -1 END, -duration_ms FROM usage
        WHERE ${ofAccounts(scope, 'account_id')} AND ${QUARTER} >= ${FIRST_COUNTED} AND ${ofQuarters(scope, QUARTER)} AND ${ofRequests(scope)}
      ) both_ways
      GROUP BY account_id, key_id, model, provider, quarter_hour
      HAVING ${sql.join(
        ROLLUP_SUMS.map((name) => sql`SUM(${sql.ref(name)}) <> 0`),
        sql` OR `,
      )}`,
  },
  {
    name: 'R9 the trial balance is zero',
    unit: 'usd',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT 'all accounts' AS place, wallets + house AS difference FROM (
        SELECT (SELECT COALESCE(SUM(credits_posted - debits_posted), 0) FROM wallets) AS wallets,
          (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE credit NOT LIKE 'wallet:%')
          - (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE debit NOT LIKE 'wallet:%') AS house) s
      WHERE wallets + house <> 0`,
  },
];
