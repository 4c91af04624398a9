import { formatUsd } from '../ledger/money.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import type { RollupSum, Sums } from './sums.ts';
import { isMean, METRICS, type Metric } from './vocabulary.ts';

type MetricValue = string | number | null;

const VALUES: Readonly<Record<Metric, (sums: Sums) => MetricValue>> = {
  spend: ({ cost }) => formatUsd(cost),
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  input_tokens: ({ inputTokens }) => inputTokens,
  cached_input_tokens: ({ cachedInputTokens }) => cachedInputTokens,
  cache_write_tokens: ({ cacheWriteTokens }) => cacheWriteTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  reasoning_tokens: ({ reasoningTokens }) => reasoningTokens,
  first_token_ms: ({ firstTokenMs, firstTokenCount }) => mean(firstTokenMs, firstTokenCount),
  latency_ms: ({ durationMs, durationCount }) => mean(durationMs, durationCount),
};

/** Returns a metric's value as reported: money as an exact decimal in USD, the mean of nothing as null. */
export function valueOf(metric: Metric, sums: Sums): MetricValue {
  return VALUES[metric](sums);
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
export function describeSums(sums: Sums): Record<Metric, MetricValue> {
  return Object.fromEntries(METRICS.map((metric) => [metric, valueOf(metric, sums)])) as Record<Metric, MetricValue>;
}

function mean(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round(sum / count);
}
