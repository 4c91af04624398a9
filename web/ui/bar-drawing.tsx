import { Bar } from '@visx/shape';
import type { JSX } from 'react';
import { ChartFrame } from './chart-frame.tsx';
import type { Plot } from './chart-frame.tsx';
import { colourOf, totalOf } from './chart.ts';
import type { ChartBucket, ChartProps, ChartSeries } from './chart.ts';

/** The bars of a bar chart. Loaded separately, because most pages have no chart. */
export function BarDrawing(props: ChartProps & { readonly heightPx: number }): JSX.Element {
  const top = Math.max(0, ...props.buckets.map(totalOf));
  return (
    <ChartFrame
      {...props}
      top={top}
      addsUp
      draw={(plot) =>
        props.buckets.map((bucket, index) => (
          <Stack key={index} bucket={bucket} series={props.series} plot={plot} isActive={plot.activeIndex === index} />
        ))
      }
    />
  );
}

interface StackProps {
  readonly bucket: ChartBucket;
  readonly series: readonly ChartSeries[];
  readonly plot: Plot;
  readonly isActive: boolean;
}

function Stack({ bucket, series, plot, isActive }: StackProps): JSX.Element {
  const x = plot.x(bucket);
  return (
    <g>
      {isActive && <Bar x={x - 2} y={0} width={plot.bandPx + 4} height={plot.heightPx} fill="var(--color-hover)" />}
      {series.map((one, index) => {
        const { id } = one;
        const below = series.slice(0, index).reduce((sum, each) => sum + (bucket.values[each.id] ?? 0), 0);
        const [bottomY, topY] = [plot.y(below), plot.y(below + (bucket.values[id] ?? 0))];
        return <Bar key={id} x={x} y={topY} width={plot.bandPx} height={Math.max(0, bottomY - topY)} fill={colourOf(one, index)} />;
      })}
    </g>
  );
}
