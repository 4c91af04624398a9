import { lazy } from 'react';
import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { LazyChart } from './lazy-chart.tsx';

const LineDrawing = lazy(async () => ({ default: (await import('./line-drawing.tsx')).LineDrawing }));

/** Lines over time, for values that do not add up: latencies, error rates, running totals. */
export function LineChart(props: ChartProps): JSX.Element {
  return <LazyChart drawing={LineDrawing} chart={props} />;
}
