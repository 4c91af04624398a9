import { DAY_MS } from '../durations.ts';
import { measureHealth, type Health } from '../usage/health.ts';
import type { Dependencies } from './dependencies.ts';
import { recent } from './recent.ts';

/** Returns the cached health figures. */
export type HealthReader = () => Promise<Health>;

/** The period that the public figures cover. */
const WINDOW_MS = DAY_MS;
const CACHE_MS = 60_000;

/** Returns a reader that measures the health of models and providers over the last day, at most once a minute. */
export function openHealth({ database }: Pick<Dependencies, 'database'>): HealthReader {
  return recent(() => {
    const toMs = Date.now();
    return measureHealth(database.kysely, { fromMs: toMs - WINDOW_MS, toMs });
  }, CACHE_MS);
}
