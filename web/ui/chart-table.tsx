import type { JSX } from 'react';
import { kit as t } from '../strings/index.ts';
import type { ChartProps } from './chart.ts';

/** The data of a chart as a table for screen readers. The wrapper hides it: a table itself cannot shrink and would lengthen the page. */
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
                <td key={id}>{formatCell(bucket.values[id], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Formats a value. A gap in the chart means that nothing was measured, which is not zero. */
function formatCell(value: number | undefined, format: ChartProps['format']): string {
  return value === undefined ? t.noData : format(value);
}
