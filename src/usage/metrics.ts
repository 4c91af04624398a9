import { formatUsd } from '../ledger/money.ts';
import type { Sums } from './sums.ts';

/** What a report can show. The last two are means: they rise and fall, and adding them up says nothing. */
export const METRICS = [
  'spend',
  'requests',
  'errors',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'first_token_ms',
  'latency_ms',
] as const;
export type Metric = (typeof METRICS)[number];

const MEANS: ReadonlySet<Metric> = new Set(['first_token_ms', 'latency_ms']);

/** True for what cannot be added up. */
export function isMean(metric: Metric): boolean {
  return MEANS.has(metric);
}

/** A value as it is told: money as an exact decimal of USD, a mean of nothing as null. */
export function valueOf(metric: Metric, sums: Sums): string | number | null {
  switch (metric) {
    case 'spend':
      return formatUsd(sums.cost);
    case 'requests':
      return sums.requests;
    case 'errors':
      return sums.errors;
    case 'input_tokens':
      return sums.inputTokens;
    case 'cached_input_tokens':
      return sums.cachedInputTokens;
    case 'cache_write_tokens':
      return sums.cacheWriteTokens;
    case 'output_tokens':
      return sums.outputTokens;
    case 'reasoning_tokens':
      return sums.reasoningTokens;
    case 'first_token_ms':
      return mean(sums.firstTokenMs, sums.firstTokenCount);
    case 'latency_ms':
      return mean(sums.durationMs, sums.requests);
  }
}

/** How much a series counts when the largest are looked for: the means of few requests must not push out those of many. */
export function sizeOf(metric: Metric, sums: Sums): number {
  return isMean(metric) ? sums.requests : Number(valueOf(metric, sums));
}

/** Everything that is known, under the names of the metrics. */
export function describeSums(sums: Sums): Record<Metric, string | number | null> {
  return Object.fromEntries(METRICS.map((metric) => [metric, valueOf(metric, sums)])) as Record<Metric, string | number | null>;
}

function mean(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round(sum / count);
}
