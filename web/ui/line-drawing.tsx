import { LinePath } from '@visx/shape';
import type { JSX } from 'react';
import { ChartFrame } from './chart-frame.tsx';
import type { Plot } from './chart-frame.tsx';
import { colourOf } from './chart.ts';
import type { ChartProps } from './chart.ts';

/** The lines of a line chart. Loaded separately, because most pages have no chart. */
export function LineDrawing(props: ChartProps & { readonly heightPx: number }): JSX.Element {
  const top = Math.max(0, ...props.buckets.flatMap((bucket) => Object.values(bucket.values)));
  return <ChartFrame {...props} top={top} addsUp={false} draw={(plot) => <Lines {...props} plot={plot} />} />;
}

/** A bucket without a value leaves a gap: nothing measured is not zero. */
function Lines({ buckets, series, plot }: ChartProps & { readonly plot: Plot }): JSX.Element {
  const middle = (index: number): number => plot.bandPx / 2 + plot.x(buckets[index] ?? { label: '', values: {} });
  const { activeIndex } = plot;
  return (
    <>
      {activeIndex !== undefined && (
        <line x1={middle(activeIndex)} x2={middle(activeIndex)} y1={0} y2={plot.heightPx} stroke="var(--color-line-strong)" />
      )}
      {series.map((one, seriesIndex) => (
        <g key={one.id}>
          <LinePath
            data={[...buckets.keys()]}
            x={middle}
            y={(index) => plot.y(buckets[index]?.values[one.id] ?? 0)}
            defined={(index) => buckets[index]?.values[one.id] !== undefined}
            stroke={colourOf(one, seriesIndex)}
            strokeWidth={2}
          />
          {[...buckets.entries()].map(([index, bucket]) => {
            const value = bucket.values[one.id];
            const isAlone = buckets[index - 1]?.values[one.id] === undefined && buckets[index + 1]?.values[one.id] === undefined;
            if (value === undefined || !(isAlone || index === activeIndex)) return null;
            return <circle key={index} cx={middle(index)} cy={plot.y(value)} r={3} fill={colourOf(one, seriesIndex)} />;
          })}
        </g>
      ))}
    </>
  );
}
