import { Suspense } from 'react';
import type { ComponentType, JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import { Skeleton } from './skeleton.tsx';

const HEIGHT_PX = 220;

interface LazyChartProps {
  /** Loaded when it is first shown: most pages have no chart. */
  readonly drawing: ComponentType<ChartProps & { readonly heightPx: number }>;
  readonly chart: ChartProps;
}

/** What is the same around every chart: room for the drawing and its legend while it is loaded, and for screen readers the table that it is drawn from. */
export function LazyChart({ drawing: Drawing, chart }: LazyChartProps): JSX.Element {
  const heightPx = chart.heightPx ?? HEIGHT_PX;
  return (
    <figure className="min-w-0">
      <Suspense
        fallback={
          <div style={{ height: heightPx }} className="box-content pb-7">
            <Skeleton className="h-full" />
          </div>
        }
      >
        <Drawing {...chart} heightPx={heightPx} />
      </Suspense>
      <ChartTable {...chart} />
    </figure>
  );
}
