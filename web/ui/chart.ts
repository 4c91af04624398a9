/** What is drawn: a row of buckets over time, each with a value for some of the series. */
export interface ChartBucket {
  /** What stands under it and at the top of its readout. */
  readonly label: string;
  /** Longer, for the readout and the table. */
  readonly title?: string;
  /** By the id of the series. Numbers are for lengths only; what is read comes from `format`. */
  readonly values: Readonly<Record<string, number>>;
}

export interface ChartSeries {
  readonly id: string;
  readonly label: string;
}

export interface ChartProps {
  /** What the chart shows, in words. */
  readonly label: string;
  readonly buckets: readonly ChartBucket[];
  /** At most eight: gather the rest into one called Other. */
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

/** The colour of the series at a place. */
export function colourAt(index: number): string {
  return CHART_COLOURS[index % CHART_COLOURS.length] ?? CHART_COLOURS[0];
}

/** The sum of a bucket. */
export function totalOf(bucket: ChartBucket): number {
  return Object.values(bucket.values).reduce((sum, value) => sum + value, 0);
}

/** The labels of an axis with as many decimals each. Where one is a fraction, nought is written as one too; so whole thousands are not taken for it. */
export function alignFractions(labels: readonly string[]): readonly string[] {
  const lengths = labels.map((label) => /[.,](\d+)$/u.exec(label)?.[1]?.length ?? 0);
  const longest = Math.max(...lengths);
  return lengths.includes(0) ? labels : labels.map((label, index) => label + '0'.repeat(longest - (lengths[index] ?? 0)));
}
