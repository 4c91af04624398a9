import { Hono } from 'hono';
import { z } from 'zod';
import { isReached } from '../../accounts/key-budgets.ts';
import type { ListedKey } from '../../accounts/key-list.ts';
import { Keys } from '../../accounts/keys.ts';
import { DAY_MS, QUARTER_HOUR_MS } from '../../durations.ts';
import { readWallet } from '../../ledger/credit.ts';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { PaymentRow } from '../../payments/payments.ts';
import { findFailedPayment } from '../../payments/failed-payment.ts';
import { describeSums } from '../../usage/metrics.ts';
import { readKeyNames } from '../../usage/names.ts';
import { readFirstTokens, readPeriods, readTop, runwayDays, type Period } from '../../usage/overview.ts';
import { readReport } from '../../usage/report.ts';
import { readRequests } from '../../usage/requests.ts';
import { startOfDayBefore } from '../../usage/zone.ts';
import { describeReport } from './describe-report.ts';
import { describeRequest } from './describe-request.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

const CHART_DAYS = 30;
const ERROR_DAYS = 7;
const SERIES_MAX = 6;
const TOP_ROWS = 5;
const ERROR_ROWS = 5;
/** A key is listed if it has used this share of a limit, has refused a request because of one, or expires this soon. */
const NEAR_LIMIT = 0.8;
const EXPIRING_MS = 7 * DAY_MS;

const query = z.object({ zone: zoneShape, by: z.enum(['model', 'key', 'provider']).default('model') });

/** The dashboard's overview: the balance, how long it will last, where it goes, and recent problems. */
export function overviewRoutes({ database, history }: Dependencies) {
  const { kysely } = database;
  return new Hono<Env>()
    .get('/', validate('query', query), async (c) => {
      const { accountId } = c.get('person');
      const { zone } = c.req.valid('query');
      const nowMs = Date.now();
      history.touch(accountId, [chartSpan(zone, nowMs)]);
      const { available, held } = await readWallet(kysely, accountId);
      const { today, week, month } = await readPeriods(database, { accountId, zone, nowMs });
      return c.json({
        zone,
        balance: {
          availableUsd: formatUsd(available),
          heldUsd: formatUsd(held),
          runwayDays: runwayDays(available, week) ?? null,
        },
        periods: { today: describePeriod(today), week: describePeriod(week), month: describePeriod(month) },
        firstToken: await readFirstTokens(database, accountId, nowMs),
        failedPayment: describeFailure(await findFailedPayment(kysely, accountId, nowMs)),
        keys: describeKeys(await new Keys(kysely).list(accountId), nowMs),
      });
    })
    .get('/spend', validate('query', query), async (c) => {
      const { accountId } = c.get('person');
      const { zone, by } = c.req.valid('query');
      const span = chartSpan(zone, Date.now());
      const spec = { accountId, span, zone, bucket: 'day', groups: [by], metric: 'spend', filter: {}, seriesMax: SERIES_MAX } as const;
      const report = await readReport(database, { ...spec, isCompared: false, nowMs: span.toMs });
      return c.json({ days: CHART_DAYS, ...describeReport(report, { ...spec, isCumulative: false }) });
    })
    .get('/top', validate('query', query), async (c) => {
      const { accountId } = c.get('person');
      const span = chartSpan(c.req.valid('query').zone, Date.now());
      const names = new Map((await readKeyNames(kysely, accountId)).map((key) => [key.id, key]));
      const keys = await readTop(database, { accountId, span, group: 'key', rowsMax: TOP_ROWS });
      const models = await readTop(database, { accountId, span, group: 'model', rowsMax: TOP_ROWS });
      return c.json({
        days: CHART_DAYS,
        keys: keys.map(({ name, sums }) => ({
          id: name,
          name: names.get(name)?.name ?? name,
          hint: names.get(name)?.hint ?? '',
          ...describeSums(sums),
        })),
        models: models.map(({ name, sums }) => ({ id: name, ...describeSums(sums) })),
      });
    })
    .get('/errors', validate('query', query), async (c) => {
      const { accountId } = c.get('person');
      const nowMs = Date.now();
      const fromMs = startOfDayBefore(ERROR_DAYS - 1, nowMs, c.req.valid('query').zone);
      const filter = { span: { fromMs, toMs: nowMs + DAY_MS }, status: 'error' } as const;
      const { rows } = await readRequests(database, { accountId, filter, rowsMax: ERROR_ROWS });
      return c.json({ days: ERROR_DAYS, requests: rows.map(describeRequest) });
    });
}

/** Returns the last thirty days of the zone's calendar, including today. */
function chartSpan(zone: string, nowMs: number): { fromMs: number; toMs: number } {
  return { fromMs: startOfDayBefore(CHART_DAYS - 1, nowMs, zone), toMs: Math.ceil(nowMs / QUARTER_HOUR_MS) * QUARTER_HOUR_MS };
}

function describePeriod({ span, formerSpan, sums, former }: Period) {
  return { span, formerSpan, ...describeSums(sums), former: describeSums(former) };
}

function describeFailure(payment: PaymentRow | undefined) {
  return payment === undefined ? null : { purpose: payment.purpose, amountUsd: formatUsd(asNanos(payment.amount)), reason: payment.reason };
}

function describeKeys(keys: readonly ListedKey[], nowMs: number) {
  // A key that its owner disabled needs no attention.
  const working = keys.filter(({ status }) => status !== 'disabled' && status !== 'expired');
  const nearLimit = working.flatMap(({ id, name, budgets }) =>
    budgets
      .map((budget) => ({
        id,
        name,
        period: budget.period,
        usedUsd: formatUsd(asNanos(budget.spent + budget.held)),
        limitUsd: formatUsd(budget.amount),
        part: budget.amount === 0n ? 1 : Number(budget.spent + budget.held) / Number(budget.amount),
        isReached: isReached(budget),
        refusedAtMs: budget.refusedAtMs ?? null,
      }))
      .filter(({ part, isReached: isFull }) => part >= NEAR_LIMIT || isFull),
  );
  const ending = working.flatMap(({ id, name, expiresAtMs }) =>
    expiresAtMs !== undefined && expiresAtMs > nowMs && expiresAtMs < nowMs + EXPIRING_MS ? [{ id, name, expiresAtMs }] : [],
  );
  return { count: keys.length, nearLimit, ending };
}
