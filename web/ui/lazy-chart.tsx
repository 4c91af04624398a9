import { Suspense } from 'react';
import type { ComponentType, JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import { Skeleton } from './skeleton.tsx';

const HEIGHT_PX = 220;

interface LazyChartProps {
  /** Loaded when first shown, because most pages have no chart. */
  readonly drawing: ComponentType<ChartProps & { readonly heightPx: number }>;
  readonly chart: ChartProps;
}

/** Common frame of all charts: a placeholder of the same height while the drawing loads, and a data table for screen readers. */
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
