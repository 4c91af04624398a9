import type { JSX } from 'react';
import { kit as t } from '../strings/index.ts';
import type { ChartProps } from './chart.ts';

/** A chart as the table it is drawn from, for screen readers. A table cannot be made small itself: it would make the page longer. */
export function ChartTable({ label, buckets, series, format }: ChartProps): JSX.Element {
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{t.time}</th>
            {series.map(({ id, label: name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket) => (
            <tr key={bucket.title ?? bucket.label}>
              <th scope="row">{bucket.title ?? bucket.label}</th>
              {series.map(({ id }) => (
                <td key={id}>{written(bucket.values[id], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the drawing leaves a gap for was not measured, which is not nought. */
function written(value: number | undefined, format: ChartProps['format']): string {
  return value === undefined ? t.noData : format(value);
}
