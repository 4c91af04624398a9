import { lazy } from 'react';
import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { LazyChart } from './lazy-chart.tsx';

const LineDrawing = lazy(async () => ({ default: (await import('./line-drawing.tsx')).LineDrawing }));

/** Lines over time, for what must not be added up: latencies, error rates, running sums. */
export function LineChart(props: ChartProps): JSX.Element {
  return <LazyChart drawing={LineDrawing} chart={props} />;
}
