import type { Limits } from './limits.ts';
import { MemoryLimits } from './memory.ts';
import { RedisLimits } from './redis.ts';

/** Where limits are counted. */
interface LimitsPlace {
  readonly redisUrl: string | undefined;
  /** How long Redis may take to answer. */
  readonly redisMs: number;
}

/** Where it is reported that this process counts alone. */
interface LimitsReport {
  readonly log: { internalError(event: string, error: unknown): void; lifecycle(event: string): void };
  readonly metrics: { countsAlone(isAlone: boolean): void };
}

/** Opens the limits of this process or, with Redis, of all nodes together. */
export async function openLimits({ redisUrl, redisMs }: LimitsPlace, { log, metrics }: LimitsReport): Promise<Limits> {
  if (redisUrl === undefined) return new MemoryLimits();
  return RedisLimits.open(redisUrl, {
    answerMs: redisMs,
    onAway: (failure) => {
      metrics.countsAlone(true);
      log.internalError('Redis cannot be reached: this node counts limits by itself', failure);
    },
    onBack: () => {
      metrics.countsAlone(false);
      log.lifecycle('Redis is back: limits are counted for all nodes together');
    },
  });
}
