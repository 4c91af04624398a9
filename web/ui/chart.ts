/** One bucket of a chart over time, with a value for some or all of the series. */
export interface ChartBucket {
  /** Label on the axis, and in the readout if there is no title. */
  readonly label: string;
  /** Longer label for the readout and the table. */
  readonly title?: string;
  /** Values by series id. They only set lengths; the text shown comes from `format`. */
  readonly values: Readonly<Record<string, number>>;
}

export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  /** Failures have their own colour, that of their badge. */
  readonly isFailure?: boolean;
}

export interface ChartProps {
  /** Description of the chart. */
  readonly label: string;
  readonly buckets: readonly ChartBucket[];
  /** At most eight; combine the rest into one called Other. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly heightPx?: number;
}

export const CHART_COLOURS = [
  'var(--color-chart-1)',
  'var(--color-chart-2)',
  'var(--color-chart-3)',
  'var(--color-chart-4)',
  'var(--color-chart-5)',
  'var(--color-chart-6)',
  'var(--color-chart-7)',
  'var(--color-chart-8)',
] as const;

/** Returns the colour of the series at an index. */
export function colourOf({ isFailure }: ChartSeries, index: number): string {
  if (isFailure === true) return 'var(--color-bad)';
  return CHART_COLOURS[index % CHART_COLOURS.length] ?? CHART_COLOURS[0];
}

/** Adds up the values of a bucket. */
export function totalOf(bucket: ChartBucket): number {
  return Object.values(bucket.values).reduce((sum, value) => sum + value, 0);
}

/**
 * Pads the labels of an axis to the same number of decimals. Among fractions even zero has decimals. A label without any therefore means
 * that `1.000` is a whole thousand, and all labels stay as they are.
 */
export function alignFractions(labels: readonly string[]): readonly string[] {
  const lengths = labels.map((label) => /[.,](\d+)$/u.exec(label)?.[1]?.length ?? 0);
  const longest = Math.max(...lengths);
  return lengths.includes(0) ? labels : labels.map((label, index) => label + '0'.repeat(longest - (lengths[index] ?? 0)));
}
