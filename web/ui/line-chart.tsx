import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { LazyChart, lazyDrawing } from './lazy-chart.tsx';

const LineDrawing = lazyDrawing(async () => (await import('./line-drawing.tsx')).LineDrawing);

/** Lines over time, for values that do not add up: latencies, error rates, running totals. */
export function LineChart(props: ChartProps): JSX.Element {
  return <LazyChart drawing={LineDrawing} chart={props} />;
}
