import { lazy, Suspense } from 'react';
import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import { Skeleton } from './skeleton.tsx';

const LineDrawing = lazy(async () => ({ default: (await import('./line-drawing.tsx')).LineDrawing }));

const HEIGHT_PX = 220;

/** Lines over time, for what must not be added up: latencies, error rates, running sums. */
export function LineChart(props: ChartProps): JSX.Element {
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
        <LineDrawing {...props} heightPx={heightPx} />
      </Suspense>
      <ChartTable {...props} />
    </figure>
  );
}
