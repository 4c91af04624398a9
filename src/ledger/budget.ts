import type { BudgetPeriod } from './ledger.ts';

const DAY_MS = 86_400_000;
/** 1970 began on a Thursday; weeks begin on Mondays. */
const MONDAY_OFFSET_MS = 4 * DAY_MS;

/** When the window of a budget began that this moment is in. Windows are those of the UTC calendar. */
export function windowStartMs(period: BudgetPeriod, nowMs: number): number {
  switch (period) {
    case 'day':
      return nowMs - (nowMs % DAY_MS);
    case 'week':
      return nowMs - ((nowMs - MONDAY_OFFSET_MS) % (7 * DAY_MS));
    case 'month': {
      const now = new Date(nowMs);
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    }
    case 'total':
      return 0;
  }
}
