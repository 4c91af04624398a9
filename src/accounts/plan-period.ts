import { asNanos, type Nanos } from '../ledger/money.ts';

/** How long a period of a plan is. */
export type PlanInterval = 'month' | 'year';

const MONTHS: Readonly<Record<PlanInterval, number>> = { month: 1, year: 12 };

/**
 * When a period begins, counted from the first one and not from the one before: a plan taken on the 31st goes by the last day of
 * a short month and is back on the 31st in the next. Calendar and clock are those of UTC.
 */
export function periodStartMs(anchorMs: number, interval: PlanInterval, turn: number): number {
  const anchor = new Date(anchorMs);
  const months = anchor.getUTCMonth() + MONTHS[interval] * turn;
  const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), months + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), lastDay);
  const timeOfDayMs = anchorMs - Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(anchor.getUTCFullYear(), months, day) + timeOfDayMs;
}

/** What the change costs now and what it gives now. */
export interface Proration {
  readonly due: Nanos;
  readonly credit: Nanos;
}

/** A plan's price and credit. */
export interface PlanTerms {
  readonly price: bigint;
  readonly included: bigint;
}

/** The part of a period that is left at a moment, between its two ends. */
export interface PeriodLeft {
  readonly startMs: number;
  readonly endMs: number;
  readonly atMs: number;
}

/**
 * What a dearer plan costs for the rest of a period: the difference of the prices for the time that is left, rounded up, and for
 * it the difference of the included credit for the same time, rounded down. What the old plan included stays.
 */
export function prorate(from: PlanTerms, to: PlanTerms, { startMs, endMs, atMs }: PeriodLeft): Proration {
  const whole = BigInt(Math.max(1, endMs - startMs));
  const left = BigInt(Math.min(Math.max(0, endMs - atMs), endMs - startMs));
  const priceDifference = positive(to.price - from.price);
  const creditDifference = positive(to.included - from.included);
  return { due: asNanos((priceDifference * left + whole - 1n) / whole), credit: asNanos((creditDifference * left) / whole) };
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
