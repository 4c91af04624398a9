import { describeSums } from '../../usage/metrics.ts';
import type { Report } from '../../usage/report.ts';
import { valuesOf, type ReportView } from '../../usage/report-tables.ts';

/** Describes a report for the browser. */
export function describeReport({ buckets, series, total, values, former, isOverlapping }: Report, view: ReportView) {
  return {
    zone: view.zone,
    bucket: view.bucket,
    buckets: buckets.map(({ fromMs }) => fromMs),
    series: series.map((one) => ({
      /** One name per group; null for the sum of all others. */
      names: one.names ?? null,
      count: one.count,
      values: valuesOf(one.values, view),
      total: describeSums(one.total),
      former: one.former === undefined ? null : describeSums(one.former),
    })),
    total: describeSums(total),
    values: valuesOf(values, view),
    former:
      former === undefined
        ? null
        : { fromMs: former.span.fromMs, toMs: former.span.toMs, values: valuesOf(former.values, view), total: describeSums(former.total) },
    isOverlapping,
  };
}
