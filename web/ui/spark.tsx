import type { JSX } from 'react';

interface SparkProps {
  /** Description for screen readers. */
  readonly label: string;
  readonly values: readonly number[];
}

const WIDTH = 96;
const HEIGHT = 24;

/** A small line without axes that shows how a figure developed. */
export function Spark({ label, values }: SparkProps): JSX.Element {
  const top = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, values.length - 1);
  const y = (value: number): number => (top === 0 ? HEIGHT - 1 : HEIGHT - 1 - (value / top) * (HEIGHT - 2));
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="h-6 w-24 text-accent" preserveAspectRatio="none">
      <polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
