import { lazy, Suspense } from 'react';
import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import { Skeleton } from './skeleton.tsx';

const BarDrawing = lazy(async () => ({ default: (await import('./bar-drawing.tsx')).BarDrawing }));

const HEIGHT_PX = 220;

/** Stacked bars over time. The drawing is loaded when it is needed; screen readers get the table that it is drawn from. */
export function BarChart(props: ChartProps): JSX.Element {
  const heightPx = props.heightPx ?? HEIGHT_PX;
  return (
    <figure className="min-w-0">
      <Suspense
        fallback={
          <div style={{ height: heightPx }}>
            <Skeleton className="h-full" />
          </div>
        }
      >
        <BarDrawing {...props} heightPx={heightPx} />
      </Suspense>
      <ChartTable {...props} />
    </figure>
  );
}
