import { lazy } from 'react';
import type { JSX } from 'react';
import type { ChartProps } from './chart.ts';
import { LazyChart } from './lazy-chart.tsx';

const BarDrawing = lazy(async () => ({ default: (await import('./bar-drawing.tsx')).BarDrawing }));

/** Stacked bars over time. */
export function BarChart(props: ChartProps): JSX.Element {
  return <LazyChart drawing={BarDrawing} chart={props} />;
}
