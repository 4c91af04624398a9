import { DAY_MS } from '../durations.ts';
import { measureHealth, type Health } from '../usage/health.ts';
import type { Parts } from './parts.ts';
import { recent } from './recent.ts';

export type HealthReader = () => Promise<Health>;

/** How far back the public figures look. */
const WINDOW_MS = DAY_MS;
const KEPT_MS = 60_000;

/** Reads how models and providers did in the last day, at most once a minute. */
export function openHealth({ database }: Pick<Parts, 'database'>): HealthReader {
  return recent(() => {
    const toMs = Date.now();
    return measureHealth(database.kysely, { fromMs: toMs - WINDOW_MS, toMs });
  }, KEPT_MS);
}
