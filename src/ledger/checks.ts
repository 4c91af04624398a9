import { sql, type RawBuilder } from 'kysely';
import { QUARTER_HOUR_MS } from '../durations.ts';
import { idAt } from '../ids.ts';

/** One place where two values that must be equal differ. */
export interface Difference {
  readonly place: string;
  /** A number where PostgreSQL returns a small constant. */
  readonly difference: bigint | number;
}

interface Scope {
  readonly accountIds: readonly string[] | undefined;
  /** Of requests, only those that began since then. Undefined means all of them. */
  readonly sinceMs: number | undefined;
  readonly nowMs: number;
  readonly longestRequestMs: number;
}

/** The name of rule R5. Housekeeping reports abandoned holds under it. */
export const NO_OLD_HOLD = 'R5 no hold is older than the longest request';

/** A ledger rule, or part of one: a query that returns one row per violation. */
interface Check {
  /** The rule's number in docs/billing.md, which metrics use as a label, followed by what must hold. */
  readonly name: `R${number} ${string}`;
  readonly unit: 'usd' | 'rows';
  /** True when the rule can be checked for selected accounts alone. */
  readonly isPerAccount: boolean;
  statement(scope: Scope): RawBuilder<Difference>;
}

/** Limits a column to the accounts in scope. */
function ofAccounts({ accountIds }: Scope, column: string): RawBuilder<unknown> {
  if (accountIds === undefined) return sql`1 = 1`;
  if (accountIds.length === 0) return sql`1 = 0`;
  return sql`${sql.ref(column)} IN (${sql.join([...accountIds])})`;
}

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
 * How an account's plan affects its credit: where the plan's grants come in the drawing order, and until when nothing else may be
 * spent. A plan with `overflow: stop` uses its own credit before everything else.
 */
export const PLAN_USE = sql`
  SELECT subscriptions.account_id, CASE WHEN overflow = 'stop' THEN subscriptions.period_end END AS resets_at,
    CASE WHEN overflow = 'stop' THEN -1 WHEN COALESCE(subscriptions.use_first, plans.use_first) = 'balance' THEN 1 ELSE 0 END AS draw_order
  FROM subscriptions JOIN plans ON plans.id = subscriptions.plan_id WHERE subscriptions.status <> 'ended'`;

/** True when the wallet or its grants disagree with `planned`, which is `PLAN_USE`. */
export const USE_DIFFERS = sql`COALESCE(wallets.plan_resets_at, 0) <> COALESCE(planned.resets_at, 0) OR EXISTS (
  SELECT 1 FROM grants WHERE grants.account_id = wallets.account_id AND kind = 'plan' AND is_spent = 0
    AND grants.draw_order <> COALESCE(planned.draw_order, 0))`;

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
    name: 'R4 every charge has one transfer, and its cost follows from its token counts and prices',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT request_id AS place, ABS(cost - COALESCE(amount, 0)) AS difference FROM usage LEFT JOIN transfers ON transfers.id = request_id
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
  {
    name: 'R6 the uses of every promo code equal its redemptions',
    unit: 'rows',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT id AS place, used - redeemed AS difference FROM (
        SELECT id, used, (SELECT COUNT(*) FROM promo_redemptions WHERE code_id = promo_codes.id) AS redeemed FROM promo_codes) c
      WHERE used <> redeemed`,
  },
  {
    name: 'R6 every plan period has its grant, once',
    unit: 'rows',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT place, 1 AS difference FROM (
        SELECT subscription_id || ' ' || period_start AS place, 'plan:' || subscription_id || ':' || period_start AS source
        FROM plan_periods WHERE included > 0 AND changes = 0) p
      WHERE NOT EXISTS (SELECT 1 FROM grants WHERE grants.source = p.source)`,
  },
  {
    name: "R6 credit is used as the account's plan says",
    unit: 'rows',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT wallets.account_id AS place, 1 AS difference FROM wallets LEFT JOIN (${PLAN_USE}) planned ON planned.account_id = wallets.account_id
      WHERE ${ofAccounts(scope, 'wallets.account_id')} AND (${USE_DIFFERS})`,
  },
  {
    name: 'R7 the clearing accounts equal the payments',
    unit: 'usd',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT place, cleared - paid AS difference FROM (
        SELECT house.name AS place, (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE debit = house.name)
          - (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE credit = house.name) AS cleared,
          (SELECT COALESCE(SUM(amount - reversed), 0) FROM payments WHERE status = 'paid' AND provider || '_clearing' = house.name) AS paid
        FROM (SELECT 'stripe_clearing' AS name UNION ALL SELECT 'manual_clearing') house) s
      WHERE cleared <> paid`,
  },
  {
    name: 'R7 every completed payment is credited once, in full',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT payments.id AS place, payments.amount - COALESCE(transfers.amount, 0) AS difference
      FROM payments LEFT JOIN transfers ON transfers.id = payments.transfer_id AND transfers.credit = 'wallet:' || payments.account_id
      WHERE ${ofAccounts(scope, 'account_id')} AND status = 'paid' AND payments.amount <> COALESCE(transfers.amount, 0)`,
  },
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
