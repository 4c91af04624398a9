import { formatUsd } from '../ledger/money.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import type { RollupSum, Sums } from './sums.ts';
import { isMean, METRICS, type Metric } from './vocabulary.ts';

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
      return mean(sums.durationMs, sums.durationCount);
  }
}

/** The sums that a metric is worked out from. Requests and errors always are: they tell whether there is anything. */
export function columnsOf(metric: Metric): readonly RollupSum[] {
  const own: Readonly<Partial<Record<Metric, readonly RollupSum[]>>> = {
    spend: ['cost'],
    requests: [],
    errors: [],
    first_token_ms: ['first_token_ms', 'first_token_count'],
    latency_ms: ['duration_ms'],
  };
  // The others are called what they are.
  return ['requests', 'errors', ...(own[metric] ?? ROLLUP_SUMS.filter((name) => name === metric))];
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
