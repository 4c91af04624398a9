import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { useLayoutEffect, useState } from 'react';
import type { JSX, KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { announce } from './announcer.tsx';
import { ChartReadout, type ChartPlace } from './chart-readout.tsx';
import { alignFractions, colourOf } from './chart.ts';
import type { ChartBucket, ChartProps } from './chart.ts';

const MARGIN = { top: 8, right: 4, bottom: 24 } as const;
const LEFT_PX_MIN = 56;
const LABEL_PX_MIN = 56;
const CHARACTER_PX = 6.7;
const LABEL_GAP_PX = 16;
const READOUT_GAP_PX = 8;

/** Scales and sizes of the drawing area. */
export interface Plot {
  readonly x: (bucket: ChartBucket) => number;
  readonly y: (value: number) => number;
  readonly bandPx: number;
  readonly heightPx: number;
  readonly activeIndex: number | undefined;
}

interface ChartFrameProps extends ChartProps {
  readonly heightPx: number;
  /** The largest value of the axis. */
  readonly top: number;
  /** The values of a bucket add up to a total. */
  readonly addsUp: boolean;
  readonly draw: (plot: Plot) => ReactNode;
}

/** Axes, readout, legend and keyboard control of a chart: arrow keys move through the buckets, whose values are read out. */
export function ChartFrame(props: ChartFrameProps): JSX.Element {
  const [box, widthPx] = useWidth();
  const [active, setActive] = useState<number>();
  const { buckets, heightPx } = props;
  const scales = scalesOf(props, widthPx);
  const bucket = active === undefined ? undefined : buckets[active];
  const highlight = (event: PointerEvent): void => {
    const index = Math.floor((event.nativeEvent.offsetX - scales.leftPx) / Math.max(1, scales.band.step()));
    setActive(index >= 0 && index < buckets.length ? index : undefined);
  };
  return (
    <div ref={box} className="relative">
      <svg
        role="img"
        aria-label={`${props.label}. Use the arrow keys to read single values.`}
        tabIndex={0}
        width={widthPx}
        height={heightPx}
        onKeyDown={(event) => moveActive({ event, active, setActive, props })}
        onBlur={() => setActive(undefined)}
        // A touch ends at once, and its readout is read afterwards.
        onPointerLeave={({ pointerType }) => pointerType !== 'touch' && setActive(undefined)}
        onPointerDown={highlight}
        onPointerMove={highlight}
        className="block rounded-md"
      >
        <g transform={`translate(${scales.leftPx},${MARGIN.top})`}>
          <Axes {...scales} props={props} />
          {widthPx > 0 && props.draw(plotOf(props, scales, active))}
        </g>
      </svg>
      {bucket !== undefined && <ChartReadout {...props} bucket={bucket} place={placeOf(scales, active, widthPx)} />}
      {props.top === 0 && <p className="pointer-events-none absolute inset-x-0 top-1/3 text-center text-sm text-muted">{t.emptyRange}</p>}
      <Legend series={props.series} />
    </div>
  );
}

type Scales = ReturnType<typeof scalesOf>;

function scalesOf({ buckets, heightPx, top, format }: ChartFrameProps, boxPx: number) {
  const innerHeightPx = heightPx - MARGIN.top - MARGIN.bottom;
  const linear = scaleLinear({ domain: [0, top === 0 ? 1 : top], range: [innerHeightPx, 0], nice: TICKS });
  // An empty chart has no scale. Long labels, such as amounts of a few millionths of a dollar, widen the margin.
  const ticks = top === 0 ? [0] : ticksOf(linear.ticks(TICKS), format);
  const tickLabels = alignFractions(ticks.map((tick) => format(tick)));
  const longest = Math.max(...tickLabels.map(({ length }) => length));
  const leftPx = Math.max(LEFT_PX_MIN, longest * CHARACTER_PX + LABEL_GAP_PX);
  const innerWidthPx = Math.max(0, boxPx - leftPx - MARGIN.right);
  const band = scaleBand({ domain: [...buckets.keys()], range: [0, innerWidthPx], padding: 0.22 });
  return { leftPx, innerHeightPx, innerWidthPx, band, linear, ticks, tickLabels };
}

/** Keeps only whole ticks if two labels would be equal, as for counts. */
function ticksOf(ticks: readonly number[], format: (value: number) => string): readonly number[] {
  const labels = new Set(ticks.map((tick) => format(tick)));
  return labels.size === ticks.length ? ticks : ticks.filter((tick) => Number.isInteger(tick));
}

function plotOf({ buckets }: ChartFrameProps, { band, linear, innerHeightPx }: Scales, activeIndex: number | undefined): Plot {
  const indexes = new Map(buckets.map((bucket, index) => [bucket, index]));
  const x = (bucket: ChartBucket): number => band(indexes.get(bucket) ?? 0) ?? 0;
  return { x, y: linear, bandPx: band.bandwidth(), heightPx: innerHeightPx, activeIndex };
}

function Axes({
  props,
  band,
  linear,
  ticks,
  tickLabels,
  innerHeightPx,
  innerWidthPx,
}: Scales & { readonly props: ChartFrameProps }): JSX.Element {
  const longest = Math.max(0, ...props.buckets.map(({ label }) => label.length));
  const labelPx = Math.max(LABEL_PX_MIN, longest * CHARACTER_PX + LABEL_GAP_PX);
  const labelsMax = Math.max(1, Math.floor(innerWidthPx / labelPx));
  const everyLabel = Math.max(1, Math.ceil(props.buckets.length / labelsMax));
  return (
    <>
      {ticks.map((tick) => (
        <line key={tick} x1={0} x2={innerWidthPx} y1={linear(tick)} y2={linear(tick)} stroke="var(--color-line)" />
      ))}
      <AxisLeft
        scale={linear}
        tickValues={[...ticks]}
        hideAxisLine
        hideTicks
        tickFormat={(_, index) => tickLabels[index] ?? ''}
        tickLabelProps={{ ...TICK, textAnchor: 'end', dx: -4, dy: 4 }}
      />
      <AxisBottom
        top={innerHeightPx}
        scale={band}
        tickValues={[...props.buckets.keys()].filter((index) => index % everyLabel === 0)}
        tickFormat={(index) => props.buckets[index]?.label ?? ''}
        stroke="var(--color-line-strong)"
        hideTicks
        tickLabelProps={{ ...TICK, textAnchor: 'middle', dy: 2 }}
      />
    </>
  );
}

const TICKS = 4;
const TICK = { fill: 'var(--color-muted)', fontSize: 11, fontFamily: 'var(--font-mono)' } as const;

interface ActiveMove {
  readonly event: KeyboardEvent;
  readonly active: number | undefined;
  readonly setActive: (index: number) => void;
  readonly props: ChartProps;
}

function moveActive({ event, active, setActive, props }: ActiveMove): void {
  const { buckets } = props;
  const offset = { ArrowLeft: -1, ArrowRight: 1, Home: -buckets.length, End: buckets.length }[event.key];
  if (offset === undefined || buckets.length === 0) return;
  event.preventDefault();
  const start = active ?? (offset < 0 ? buckets.length : -1);
  const index = Math.min(buckets.length - 1, Math.max(0, start + offset));
  setActive(index);
  const bucket = buckets[index];
  if (bucket !== undefined) announce(describe(bucket, props));
}

function describe(bucket: ChartBucket, { series, format }: ChartProps): string {
  const parts = series
    .filter(({ id }) => (bucket.values[id] ?? 0) !== 0)
    .map(({ id, label }) => `${label} ${format(bucket.values[id] ?? 0)}`);
  return `${bucket.title ?? bucket.label}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
}

/** Places the readout beside the bucket, on the side with more room. */
function placeOf({ band, leftPx }: Scales, index: number | undefined, widthPx: number): ChartPlace {
  const startPx = leftPx + (band(index ?? 0) ?? 0);
  const endPx = startPx + band.bandwidth();
  return startPx + endPx < widthPx ? { left: endPx + READOUT_GAP_PX } : { right: widthPx - startPx + READOUT_GAP_PX };
}

function Legend({ series }: Pick<ChartProps, 'series'>): JSX.Element {
  return (
    <div aria-hidden="true" className="mt-2 flex min-h-5 flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {series.map((one, index) => (
        <span key={one.id} className="inline-flex items-center gap-1.5">
          <span className="size-2 rounded-[2px] forced-color-adjust-none" style={{ backgroundColor: colourOf(one, index) }} />
          {one.label}
        </span>
      ))}
    </div>
  );
}

function useWidth(): [box: (element: HTMLDivElement | null) => void, widthPx: number] {
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [widthPx, setWidthPx] = useState(0);
  useLayoutEffect(() => {
    if (element === null) return;
    setWidthPx(element.clientWidth);
    const observer = new ResizeObserver(() => setWidthPx(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, widthPx];
}
