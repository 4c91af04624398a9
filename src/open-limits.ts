import type { Config } from './config.ts';
import type { Limits } from './limits/limits.ts';
import { MemoryLimits } from './limits/memory.ts';
import { RedisLimits } from './limits/redis.ts';
import type { Log } from './observe/log.ts';
import type { Metrics } from './observe/metrics.ts';

/** Opens the limits of this process or, with Redis, of all nodes together. */
export async function openLimits({ redisUrl, redisMs }: Config, log: Log, metrics: Metrics): Promise<Limits> {
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
