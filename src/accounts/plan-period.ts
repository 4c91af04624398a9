import { asNanos, NANOS_PER_CENT, type Nanos } from '../ledger/money.ts';

/** Length of a plan's period. */
export type PlanInterval = 'month' | 'year';

const MONTHS: Readonly<Record<PlanInterval, number>> = { month: 1, year: 12 };

/**
 * Returns when a period begins, counted from the first period rather than the previous one: a plan bought on the 31st renews on the
 * last day of a short month, and on the 31st again in the next. Calendar and clock are UTC.
 */
export function periodStartMs(anchorMs: number, interval: PlanInterval, turn: number): number {
  const anchor = new Date(anchorMs);
  const months = anchor.getUTCMonth() + MONTHS[interval] * turn;
  const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), months + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), lastDay);
  const timeOfDayMs = anchorMs - Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(anchor.getUTCFullYear(), months, day) + timeOfDayMs;
}

/** What an upgrade costs and gives now. */
export interface Proration {
  readonly due: Nanos;
  readonly credit: Nanos;
}

/** A plan's price and included credit. */
export interface PlanTerms {
  readonly price: bigint;
  readonly included: bigint;
}

/** A period and a moment within it. */
export interface PeriodLeft {
  readonly startMs: number;
  readonly endMs: number;
  readonly atMs: number;
}

/**
 * Returns what a more expensive plan costs for the rest of a period: the price difference for the remaining time, rounded up to a cent, so
 * that balances and cards pay the same. It gives the difference in included credit for the same time, rounded down to a cent. The old
 * plan's included credit stays.
 */
export function prorate(from: PlanTerms, to: PlanTerms, { startMs, endMs, atMs }: PeriodLeft): Proration {
  const whole = BigInt(Math.max(1, endMs - startMs));
  const left = BigInt(Math.min(Math.max(0, endMs - atMs), endMs - startMs));
  const priceDifference = positive(to.price - from.price);
  const creditDifference = positive(to.included - from.included);
  const cent = whole * NANOS_PER_CENT;
  const dueCents = (priceDifference * left + cent - 1n) / cent;
  const creditCents = (creditDifference * left) / cent;
  return { due: asNanos(dueCents * NANOS_PER_CENT), credit: asNanos(creditCents * NANOS_PER_CENT) };
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
