import { formatUsd } from '../ledger/money.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import type { RollupSum, Sums } from './sums.ts';
import { isMean, METRICS, type Metric } from './vocabulary.ts';

/** Returns a metric's value as reported: money as an exact decimal in USD, the mean of nothing as null. */
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

/** Returns the columns a metric is computed from. Requests and errors are always included: they show whether there is any data. */
export function columnsOf(metric: Metric): readonly RollupSum[] {
  const own: Readonly<Partial<Record<Metric, readonly RollupSum[]>>> = {
    spend: ['cost'],
    requests: [],
    errors: [],
    first_token_ms: ['first_token_ms', 'first_token_count'],
    latency_ms: ['duration_ms'],
  };
  // The other metrics are named like their columns.
  return ['requests', 'errors', ...(own[metric] ?? ROLLUP_SUMS.filter((name) => name === metric))];
}

/** Returns a series' weight for ranking. Means are ranked by requests, so that a mean of few requests does not displace one of many. */
export function weightOf(metric: Metric, sums: Sums): number {
  return isMean(metric) ? sums.requests : Number(valueOf(metric, sums));
}

/** Returns all metrics by name. */
export function describeSums(sums: Sums): Record<Metric, string | number | null> {
  return Object.fromEntries(METRICS.map((metric) => [metric, valueOf(metric, sums)])) as Record<Metric, string | number | null>;
}

function mean(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round(sum / count);
}
