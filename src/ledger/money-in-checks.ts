import { sql } from 'kysely';
import { DAY_MS } from '../durations.ts';
import { ofAccounts, type Check, type Difference } from './check.ts';
import { NANOS_PER_CENT } from './money.ts';

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

/** The credit of one redemption. */
const PROMO_GRANT = sql`(SELECT grants.amount FROM grants WHERE source = 'promo:' || r.code_id || ':' || r.account_id || ':' || r.n)`;

/** The rules about promo codes, plans and payments. */
export const MONEY_IN_CHECKS: readonly Check[] = [
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
    name: 'R6 every promo code gave what it promised, once',
    unit: 'rows',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT place, 1 AS difference FROM (
        SELECT account_id || ' ' || shown AS place, amount AS promised, ${PROMO_GRANT} AS given
        FROM promo_redemptions r JOIN promo_codes ON promo_codes.id = r.code_id WHERE kind = 'credit'
        UNION ALL
        SELECT id, bonus, (SELECT ${PROMO_GRANT} FROM promo_redemptions r WHERE r.account_id = payments.account_id AND payment_id = payments.id)
        FROM payments) p
      WHERE promised <> COALESCE(given, 0)`,
  },
  {
    name: 'R6 every plan period has its grant, once',
    unit: 'rows',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT subscription_id || ' ' || period_start AS place, 1 AS difference FROM plan_periods
      LEFT JOIN grants ON grants.source = 'plan:' || subscription_id || ':' || period_start
      WHERE changes = 0 AND (included <> COALESCE(amount, 0) OR expires_at <> period_end + ${sql.lit(DAY_MS)})`,
  },
  {
    name: 'R6 every plan is in one of its periods',
    unit: 'rows',
    isPerAccount: false,
    statement: () => sql<Difference>`
      SELECT account_id AS place, 1 AS difference FROM subscriptions s
      WHERE status <> 'ended' AND NOT EXISTS (
        SELECT 1 FROM plan_periods p WHERE p.subscription_id = s.id AND p.period_start = s.period_start
          AND p.period_end = s.period_end AND p.plan_id = s.plan_id)`,
  },
  {
    name: 'R6 the prices of plan periods equal the payments for them',
    unit: 'usd',
    isPerAccount: false,
    // What an upgrade costs depends on its moment.
    statement: () => sql<Difference>`
      SELECT account_id AS place, due - COALESCE(paid, 0) AS difference FROM (
        SELECT account_id, SUM(price) AS due FROM plan_periods JOIN subscriptions ON subscriptions.id = subscription_id
        GROUP BY account_id HAVING SUM(changes) = 0) p
      LEFT JOIN (SELECT debit, SUM(amount) AS paid FROM transfers WHERE kind <> 'usage' AND kind = 'plan' AND credit = 'revenue' GROUP BY debit) t
        ON debit = 'wallet:' || account_id
      WHERE due <> COALESCE(paid, 0)`,
  },
  {
    name: "R6 credit is used as the account's plan says",
    unit: 'rows',
    isPerAccount: true,
    isAligned: true,
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
      WHERE ${ofAccounts(scope, 'account_id')} AND status = 'paid'
        AND (payments.amount <> COALESCE(transfers.amount, 0) OR payments.amount <> charge_cents * ${sql.lit(NANOS_PER_CENT)})`,
  },
  {
    name: 'R7 what refunds and disputes returned was taken back',
    unit: 'usd',
    isPerAccount: true,
    statement: (scope) => sql<Difference>`
      SELECT id AS place, due - reversed AS difference FROM (
        SELECT id, reversed, ${sql.lit(NANOS_PER_CENT)} * CASE WHEN returned < charge_cents THEN returned ELSE charge_cents END AS due
        FROM (SELECT payments.*, (SELECT COALESCE(SUM(cents), 0) FROM payment_reversals r
          WHERE r.provider_ref = payments.provider_ref AND r.state = 'standing') AS returned
          FROM payments WHERE ${ofAccounts(scope, 'account_id')} AND status = 'paid') p) q
      WHERE due <> reversed`,
  },
];
