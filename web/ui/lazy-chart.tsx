import { lazy, Suspense } from 'react';
import type { ComponentType, JSX } from 'react';
import { reloadPage } from '../lazy-page.ts';
import type { ChartProps } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';

const HEIGHT_PX = 220;

type Drawing = ComponentType<ChartProps & { readonly heightPx: number }>;

interface LazyChartProps {
  readonly drawing: Drawing;
  readonly chart: ChartProps;
}

/** A drawing that is loaded when first shown, because most pages have no chart. If that fails, the rest of the page is still there. */
export function lazyDrawing(load: () => Promise<Drawing>): Drawing {
  return lazy(async () => ({ default: await load().catch(() => MissingDrawing) }));
}

function MissingDrawing(): JSX.Element {
  return <ErrorState error={undefined} onRetry={() => void reloadPage()} />;
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
