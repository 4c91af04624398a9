import { describeSums } from '../../usage/metrics.ts';
import type { Report } from '../../usage/report.ts';
import { valuesOf, type ReportView } from '../../usage/report-tables.ts';

/** A report as pages get it. */
export function describeReport(report: Report, view: ReportView) {
  const { buckets, series, total, former } = report;
  return {
    zone: view.zone,
    bucket: view.bucket,
    buckets: buckets.map(({ fromMs }) => fromMs),
    series: series.map((one) => ({
      name: one.name ?? null,
      count: one.count,
      values: valuesOf(one.values, view),
      total: describeSums(one.total),
      former: one.former === undefined ? null : describeSums(one.former),
    })),
    total: describeSums(total),
    former:
      former === undefined
        ? null
        : { fromMs: former.span.fromMs, toMs: former.span.toMs, values: valuesOf(former.values, view), total: describeSums(former.total) },
  };
}
