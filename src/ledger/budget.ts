import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { isZone, ZoneClock } from '../zone-clock.ts';
import type { BudgetPeriod } from './ledger.ts';

/** 1 January 1970 was a Thursday; weeks begin on Mondays. */
const MONDAY_OFFSET_MS = 4 * DAY_MS;
const UTC = 'UTC';

/** Returns the start of the budget window that contains a moment, by the UTC calendar. */
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

/** The time span a budget counts in. The `total` window never ends. */
export interface BudgetWindow {
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/** Returns the window that contains a moment, by the calendar of a time zone. A zone unknown to this runtime is treated as UTC. */
export function windowOf(period: BudgetPeriod, nowMs: number, zone: string): BudgetWindow {
  if (period === 'total') return { startMs: 0, endMs: undefined };
  if (zone === UTC || !isZone(zone)) {
    const startMs = windowStartMs(period, nowMs);
    return { startMs, endMs: nextStartMs(period, startMs) };
  }
  const clock = new ZoneClock(zone);
  // Work in the zone's wall-clock time as if it were UTC, and convert only the two ends back.
  const wallStartMs = windowStartMs(period, nowMs + clock.offsetMs(nowMs));
  return { startMs: clock.momentOf(wallStartMs), endMs: clock.momentOf(nextStartMs(period, wallStartMs)) };
}

function nextStartMs(period: Exclude<BudgetPeriod, 'total'>, startMs: number): number {
  switch (period) {
    case 'day':
      return startMs + DAY_MS;
    case 'week':
      return startMs + 7 * DAY_MS;
    case 'month': {
      const start = new Date(startMs);
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
    }
  }
}

/** How much may be spent and held in a window. */
export interface BudgetLimit extends BudgetWindow {
  readonly amount: bigint;
  /** True when the last fifth is released evenly over the window instead of all at once. */
  readonly isPaced: boolean;
}

const PACED_PART = 5n;

/** Returns how much may be spent and held at a moment. Never more than the amount. */
export function allowedAt({ amount, isPaced, startMs, endMs }: BudgetLimit, nowMs: number): bigint {
  if (!isPaced || endMs === undefined) return amount;
  const lengthMs = endMs - startMs;
  const elapsedMs = Math.min(Math.max(0, nowMs - startMs), lengthMs);
  const paced = amount / PACED_PART;
  return amount - paced + (paced * BigInt(elapsedMs)) / BigInt(lengthMs);
}

/**
 * Returns when `wanted` will be allowed: at the latest when the window ends, because a new window starts from zero. Undefined when waiting
 * changes nothing.
 */
export function allowedFromMs({ amount, isPaced, startMs, endMs }: BudgetLimit, wanted: bigint): number | undefined {
  if (!isPaced || endMs === undefined) return undefined;
  const paced = amount / PACED_PART;
  if (wanted > amount || paced === 0n) return endMs;
  const missing = (wanted - (amount - paced)) * BigInt(endMs - startMs);
  return startMs + Math.max(0, Number((missing + paced - 1n) / paced));
}

/** Returns how much a paced budget releases per hour. */
export function pacedPerHour({ amount, isPaced, startMs, endMs }: BudgetLimit): bigint {
  if (!isPaced || endMs === undefined) return 0n;
  return ((amount / PACED_PART) * BigInt(HOUR_MS)) / BigInt(endMs - startMs);
}

/** A row of `key_budgets`. */
export type BudgetRow = Omit<Selectable<Tables['key_budgets']>, 'key_id'>;

/** Why a budget cannot cover a hold. */
export interface BudgetRefusal {
  readonly period: BudgetPeriod;
  readonly available: bigint;
  /** When the hold would fit if nothing else changed. Undefined when waiting does not help within this window. */
  readonly freeAtMs: number | undefined;
}

/** What a key may spend within a time window. */
export class Budget {
  readonly period: BudgetPeriod;
  readonly amount: bigint;
  readonly zone: string;
  readonly isPaced: boolean;
  spent: bigint;
  held: bigint;
  startMs: number;
  endMs: number | undefined;

  constructor(row: BudgetRow) {
    this.period = row.period;
    this.amount = row.amount;
    this.zone = row.zone;
    this.isPaced = row.is_paced === 1n;
    this.spent = row.spent;
    this.held = row.held;
    this.startMs = Number(row.window_start);
    this.endMs = row.window_end === null ? undefined : Number(row.window_end);
  }

  leftAt(nowMs: number): bigint {
    return allowedAt(this, nowMs) - this.spent - this.held;
  }

  /** Returns undefined when `minimum` fits. */
  refuse(minimum: bigint, nowMs: number): BudgetRefusal | undefined {
    const available = this.leftAt(nowMs);
    if (available >= minimum) return undefined;
    const couldFit = this.spent + minimum <= this.amount;
    return { period: this.period, available, freeAtMs: couldFit ? allowedFromMs(this, this.spent + this.held + minimum) : undefined };
  }

  spend(cost: bigint, nowMs: number): void {
    this.turn(nowMs);
    this.spent += cost;
  }

  /**
   * Moves to the window of `nowMs`. Spending starts again at zero; open holds stay held. A late settlement from an earlier window never
   * moves it back.
   */
  turn(nowMs: number): void {
    if (this.endMs === undefined || nowMs < this.endMs) return;
    const { startMs, endMs } = windowOf(this.period, nowMs, this.zone);
    this.endMs = endMs;
    if (startMs <= this.startMs) return;
    this.startMs = startMs;
    this.spent = 0n;
  }
}

/** Returns the refusal that lasts longest: a request that waited for a shorter one would be refused again. */
export function longestRefusal(refusals: readonly BudgetRefusal[]): BudgetRefusal | undefined {
  return refusals.reduce<BudgetRefusal | undefined>((worst, one) => {
    if (worst === undefined) return one;
    return (worst.freeAtMs ?? Number.POSITIVE_INFINITY) >= (one.freeAtMs ?? Number.POSITIVE_INFINITY) ? worst : one;
  }, undefined);
}
