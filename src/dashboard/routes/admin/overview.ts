import { Hono } from 'hono';
import { z } from 'zod';
import { countNewAccounts } from '../../../accounts/account-list.ts';
import { readOwnerNames } from '../../../accounts/owners.ts';
import { QUARTER_HOUR_MS } from '../../../durations.ts';
import { asNanos, formatUsd } from '../../../ledger/money.ts';
import { readLiability, readMoneyIn } from '../../../ledger/service-money.ts';
import { countFailedAttempts } from '../../../usage/failed-attempts.ts';
import { WHOLE_SERVICE } from '../../../usage/service-history.ts';
import { readActiveAccounts, readServiceSums } from '../../../usage/service-sums.ts';
import { cutIntoBuckets, startOf, startOfDayBefore, type Span } from '../../../usage/zone.ts';
import { askLedger } from '../../gate-answers.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { zoneShape } from '../../usage-query.ts';
import { validate } from '../../validate.ts';
import { describeBooks, describeCharges, describeMargin, describeModels, describeProviders, describeTotal } from './describe-service.ts';

const TOP_ROWS = 10;
const DAYS_BACK = { today: 0, '7d': 6, '30d': 29 } as const;

const query = z.strictObject({ range: z.enum(['today', '7d', '30d', 'month']).default('7d'), zone: zoneShape });
type Query = z.output<typeof query>;

/** The state of the service: charges, money in, provider failures, liability and ledger verification. */
export function adminOverviewRoutes({ database, ask, history }: Dependencies) {
  const { kysely } = database;
  return new Hono<Env>()
    .get('/', validate('query', query), async (c) => {
      const asked = c.req.valid('query');
      const buckets = bucketsOf(asked);
      const span = wholeOf(buckets);
      history.touch(WHOLE_SERVICE, buckets);
      const cells = await readServiceSums(database, buckets);
      const failed = await countFailedAttempts(kysely, span);
      const { paid, returned } = await readMoneyIn(kysely, span);
      return c.json({
        span,
        bucket: unitOf(asked),
        ...describeTotal(cells),
        moneyIn: { paidUsd: formatUsd(paid), returnedUsd: formatUsd(returned), netUsd: formatUsd(asNanos(paid - returned)) },
        newAccounts: await countNewAccounts(kysely, span),
        charges: { buckets: buckets.map(({ fromMs }) => fromMs), ...describeCharges(cells, buckets.length) },
        providers: describeProviders(cells, failed.attempts),
        attempts: { isCut: failed.isCut, sinceMs: failed.sinceMs > span.fromMs ? failed.sinceMs : null },
        models: describeModels(cells).slice(0, TOP_ROWS),
        margin: describeMargin(cells),
      });
    })
    .get('/accounts', validate('query', query), async (c) => {
      const { count, top } = await readActiveAccounts(database, bucketsOf(c.req.valid('query')), { rowsMax: TOP_ROWS, nowMs: Date.now() });
      const { emails } = await readOwnerNames(kysely, { accountIds: top.map(({ accountId }) => accountId), keyIds: [] });
      return c.json({
        active: count,
        top: top.map(({ accountId, requests, cost }) => {
          return { id: accountId, email: emails.get(accountId) ?? accountId, requests, chargedUsd: formatUsd(cost) };
        }),
      });
    })
    .get('/books', async (c) => c.json(describeBooks(await readLiability(kysely), await askLedger(ask))));
}

function unitOf({ range }: Query): 'hour' | 'day' {
  return range === 'today' ? 'hour' : 'day';
}

/** Splits the range, up to the current quarter of an hour, into days of the zone, or into hours for today. */
function bucketsOf(asked: Query): readonly Span[] {
  const { range, zone } = asked;
  const nowMs = Date.now();
  const toMs = Math.floor(nowMs / QUARTER_HOUR_MS) * QUARTER_HOUR_MS + QUARTER_HOUR_MS;
  const fromMs = range === 'month' ? startOf('month', nowMs, zone) : startOfDayBefore(DAYS_BACK[range], nowMs, zone);
  return cutIntoBuckets({ fromMs, toMs }, unitOf(asked), zone);
}

function wholeOf(buckets: readonly Span[]): Span {
  return { fromMs: buckets[0]?.fromMs ?? 0, toMs: buckets.at(-1)?.toMs ?? 0 };
}
