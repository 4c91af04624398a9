import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { isZone, ZoneClock } from '../zone-clock.ts';
import type { BudgetPeriod } from './ledger.ts';

/** 1970 began on a Thursday; weeks begin on Mondays. */
const MONDAY_OFFSET_MS = 4 * DAY_MS;
const UTC = 'UTC';

/** When the window of a budget began that this moment is in, by the UTC calendar. */
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

/** A stretch of time that a budget counts in. That of the total has no end. */
export interface BudgetWindow {
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/** The window that a moment is in, by the calendar of a zone. One that this runtime does not know any more is taken for UTC. */
export function windowOf(period: BudgetPeriod, nowMs: number, zone: string): BudgetWindow {
  if (period === 'total') return { startMs: 0, endMs: undefined };
  if (zone === UTC || !isZone(zone)) {
    const startMs = windowStartMs(period, nowMs);
    return { startMs, endMs: nextStartMs(period, startMs) };
  }
  const clock = new ZoneClock(zone);
  // What the zone's clocks show is counted as if it were UTC, and only the ends are brought back.
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

/** What may be spent and held in a window. */
export interface BudgetLimit extends BudgetWindow {
  readonly amount: bigint;
  /** Whether its last fifth is let out evenly over the window, instead of at once. */
  readonly isPaced: boolean;
}

const PACED_PART = 5n;

/** How much may be spent and held at a moment: never more than the amount. */
export function allowedAt({ amount, isPaced, startMs, endMs }: BudgetLimit, nowMs: number): bigint {
  if (!isPaced || endMs === undefined) return amount;
  const lengthMs = endMs - startMs;
  const elapsedMs = Math.min(Math.max(0, nowMs - startMs), lengthMs);
  const paced = amount / PACED_PART;
  return amount - paced + (paced * BigInt(elapsedMs)) / BigInt(lengthMs);
}

/** When so much will be allowed; at the latest when the window ends, for then everything begins anew. Undefined where time changes nothing. */
export function allowedFromMs({ amount, isPaced, startMs, endMs }: BudgetLimit, wanted: bigint): number | undefined {
  if (!isPaced || endMs === undefined) return undefined;
  const paced = amount / PACED_PART;
  if (wanted > amount || paced === 0n) return endMs;
  const missing = (wanted - (amount - paced)) * BigInt(endMs - startMs);
  return startMs + Math.max(0, Number((missing + paced - 1n) / paced));
}

/** What a budget lets out in an hour while it is paced. */
export function pacedPerHour({ amount, isPaced, startMs, endMs }: BudgetLimit): bigint {
  if (!isPaced || endMs === undefined) return 0n;
  return ((amount / PACED_PART) * BigInt(HOUR_MS)) / BigInt(endMs - startMs);
}

/** A budget as the database has it. */
export type BudgetRow = Omit<Selectable<Tables['key_budgets']>, 'key_id'>;

/** Why a budget cannot cover a hold. */
export interface BudgetRefusal {
  readonly period: BudgetPeriod;
  readonly available: bigint;
  /** When the hold would fit if nothing else changed; undefined where waiting does not help in this window. */
  readonly freeAtMs: number | undefined;
}

/** What a key may spend in a window of time. */
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

  /** Undefined when there is room for so much. */
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

  /** A new window begins with nothing spent; what is held stays held. Late news of an old window does not turn it back. */
  turn(nowMs: number): void {
    if (this.endMs === undefined || nowMs < this.endMs) return;
    const { startMs, endMs } = windowOf(this.period, nowMs, this.zone);
    this.endMs = endMs;
    if (startMs <= this.startMs) return;
    this.startMs = startMs;
    this.spent = 0n;
  }
}

/** Of several refusals the one that lasts longest: waiting for another would be in vain. */
export function gravest(refusals: readonly BudgetRefusal[]): BudgetRefusal | undefined {
  return refusals.reduce<BudgetRefusal | undefined>((worst, one) => {
    if (worst === undefined) return one;
    return (worst.freeAtMs ?? Number.POSITIVE_INFINITY) >= (one.freeAtMs ?? Number.POSITIVE_INFINITY) ? worst : one;
  }, undefined);
}
