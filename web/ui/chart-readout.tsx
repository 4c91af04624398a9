import type { JSX } from 'react';
import { kit as t } from '../strings/index.ts';
import { colourOf, totalOf } from './chart.ts';
import type { ChartBucket, ChartProps } from './chart.ts';

/** Distance from the left or right side of the chart. */
export type ChartPlace = { readonly left: number } | { readonly right: number };

interface ChartReadoutProps extends Pick<ChartProps, 'series' | 'format'> {
  readonly bucket: ChartBucket;
  readonly place: ChartPlace;
  readonly addsUp: boolean;
}

/** Values of the active bucket, shown beside it. It floats, so that nothing moves when it appears. */
export function ChartReadout({ bucket, series, format, place, addsUp }: ChartReadoutProps): JSX.Element {
  const entries = series.flatMap((one, index) => {
    const { id, label } = one;
    const value = bucket.values[id];
    return value === undefined || (addsUp && value === 0) ? [] : [{ id, label, value, colour: colourOf(one, index) }];
  });
  return (
    <div
      aria-hidden="true"
      style={{ ...place, maxWidth: `calc(100% - ${Object.values(place)[0]}px)` }}
      className="pointer-events-none absolute top-2 z-20 rounded-md border border-line bg-raised px-3 py-2 text-xs shadow-float"
    >
      <p className="font-medium">{bucket.title ?? bucket.label}</p>
      {entries.length === 0 && <p className="text-muted">{t.nothing}</p>}
      {entries.map(({ id, label, value, colour }) => (
        <p key={id} className="mt-0.5 flex items-center gap-1.5 text-muted">
          <span className="size-2 shrink-0 rounded-[2px] forced-color-adjust-none" style={{ backgroundColor: colour }} />
          <span dir="auto" className="min-w-0 flex-1 truncate text-left">
            {label}
          </span>
          <span className="figures ml-3 text-ink">{format(value)}</span>
        </p>
      ))}
      {addsUp && entries.length > 1 && (
        <p className="mt-1 flex justify-between gap-4 border-t border-line pt-1 font-medium">
          {t.total}
          <span className="figures">{format(totalOf(bucket))}</span>
        </p>
      )}
    </div>
  );
}
