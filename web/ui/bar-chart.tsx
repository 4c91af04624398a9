import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { LazyChart, lazyDrawing } from './lazy-chart.tsx';

const BarDrawing = lazyDrawing(async () => (await import('./bar-drawing.tsx')).BarDrawing);

/** Stacked bars over time. */
export function BarChart(props: ChartProps): JSX.Element {
  return <LazyChart drawing={BarDrawing} chart={props} />;
}
