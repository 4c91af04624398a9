import { QUARTER_HOUR_MS } from '../durations.ts';

/** Consecutive hours or days of equal length, which begin at a fixed offset from those of UTC. */
export interface Grid {
  readonly length: 'hour' | 'day';
  readonly lengthMs: number;
  readonly beginsMs: number;
}

const LENGTHS_MS = { hour: 4 * QUARTER_HOUR_MS, day: 96 * QUARTER_HOUR_MS } as const;

/** The hours of UTC, which most zones share. */
export const HOURS: Grid = gridFrom('hour', 0);
/** The days of the UTC calendar. */
export const UTC_DAYS: Grid = gridFrom('day', 0);

/** Returns the grid of hours or days in which one begins at this moment. */
export function gridFrom(length: Grid['length'], atMs: number): Grid {
  const lengthMs = LENGTHS_MS[length];
  return { length, lengthMs, beginsMs: ((atMs % lengthMs) + lengthMs) % lengthMs };
}

/** Returns a grid's name in the database: its length and its offset from UTC in quarter hours. */
export function gridName({ length, beginsMs }: Grid): string {
  return `${length}+${beginsMs / QUARTER_HOUR_MS}`;
}

/** Parses a grid's name. */
export function readGrid(name: string): Grid {
  const [length, quarters] = name.split('+');
  return gridFrom(length === 'hour' ? 'hour' : 'day', Number(quarters) * QUARTER_HOUR_MS);
}

/** Returns the last grid line at or before a moment. */
export function floorToGrid(atMs: number, { lengthMs, beginsMs }: Grid): number {
  return Math.floor((atMs - beginsMs) / lengthMs) * lengthMs + beginsMs;
}

/** Returns the first grid line at or after a moment. */
export function ceilToGrid(atMs: number, { lengthMs, beginsMs }: Grid): number {
  return Math.ceil((atMs - beginsMs) / lengthMs) * lengthMs + beginsMs;
}
