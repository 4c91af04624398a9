import type { JSX } from 'react';
import type { ResponseBody, api } from '../../api.ts';
import { formatCount } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { DAY_MS, formatDateTime } from '../../time.ts';
import { BarChart } from '../../ui/bar-chart.tsx';

interface HistogramProps {
  readonly histogram: ResponseBody<typeof api.requests.histogram.$get>;
  readonly zone: string;
}

/** Number of requests over time. */
export function Histogram({ histogram, zone }: HistogramProps): JSX.Element {
  const short = shortLabels(histogram, zone);
  const buckets = histogram.bars.map(({ fromMs, ok, errors }) => ({
    label: short(fromMs),
    title: formatDateTime(fromMs, zone),
    values: { ok, errors },
  }));
  return (
    <>
      <BarChart
        label={t.histogram}
        buckets={buckets}
        series={[
          { id: 'ok', label: t.succeeded },
          { id: 'errors', label: t.failed, isFailure: true },
        ]}
        format={formatCount}
        heightPx={120}
      />
      {histogram.ignored.length > 0 && <p className="mt-1 text-xs text-warn">{t.ignored(histogram.ignored.join(', '))}</p>}
    </>
  );
}

/** Labels bars with the hour for up to two days, with the day if bars are days, and with both in between. */
function shortLabels({ bars }: HistogramProps['histogram'], zone: string): (atMs: number) => string {
  const [first, last] = [bars.at(0), bars.at(-1)];
  const formatter = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
  const [day, hour] = [formatter({ day: 'numeric', month: 'short' }), formatter({ hour: '2-digit', minute: '2-digit' })];
  if (first === undefined || last === undefined || last.toMs - first.fromMs <= 2 * DAY_MS) return (atMs) => hour.format(atMs);
  if (first.toMs - first.fromMs >= DAY_MS) return (atMs) => day.format(atMs);
  return (atMs) => `${day.format(atMs)} ${hour.format(atMs).slice(0, 2)}h`;
}
