import { QUARTER_MS } from './zone.ts';

/** Stretches of time of the same length, one behind the other: hours or days that begin so long after those of UTC. */
export interface Grid {
  readonly length: 'hour' | 'day';
  readonly lengthMs: number;
  readonly beginsMs: number;
}

const LENGTHS_MS = { hour: 4 * QUARTER_MS, day: 96 * QUARTER_MS } as const;

/** The hours of UTC, which are those of most zones. */
export const HOURS: Grid = gridFrom('hour', 0);
/** The days of the calendar of UTC. */
export const UTC_DAYS: Grid = gridFrom('day', 0);

/** The hours or days of which one begins at this moment. */
export function gridFrom(length: Grid['length'], atMs: number): Grid {
  const lengthMs = LENGTHS_MS[length];
  return { length, lengthMs, beginsMs: ((atMs % lengthMs) + lengthMs) % lengthMs };
}

/** What a grid is called in the database: its length, and the quarter-hours after those of UTC at which its hours or days begin. */
export function gridName({ length, beginsMs }: Grid): string {
  return `${length}+${beginsMs / QUARTER_MS}`;
}

/** The grid of such a name. */
export function readGrid(name: string): Grid {
  const [length, quarters] = name.split('+');
  return gridFrom(length === 'hour' ? 'hour' : 'day', Number(quarters) * QUARTER_MS);
}

/** The last line of the grid that is not after a moment. */
export function floorToGrid(atMs: number, { lengthMs, beginsMs }: Grid): number {
  return Math.floor((atMs - beginsMs) / lengthMs) * lengthMs + beginsMs;
}

/** The first line of the grid that is not before a moment. */
export function ceilToGrid(atMs: number, { lengthMs, beginsMs }: Grid): number {
  return Math.ceil((atMs - beginsMs) / lengthMs) * lengthMs + beginsMs;
}
