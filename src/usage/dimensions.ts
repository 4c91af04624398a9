import type { Grid } from './grid.ts';

/** The dimensions by which requests can be grouped. */
export const DIMENSIONS = ['model', 'key', 'provider'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The column of each dimension, in every table that counts requests. */
export const COLUMN_OF: Readonly<Record<Dimension, 'model' | 'key_id' | 'provider'>> = {
  model: 'model',
  key: 'key_id',
  provider: 'provider',
};

/** The groupings of historical sums, under their names in the database. */
const HISTORY_DIMENSIONS = {
  model: ['model'],
  key: ['key'],
  provider: ['provider'],
  model_key: ['model', 'key'],
  model_provider: ['model', 'provider'],
  key_provider: ['key', 'provider'],
  every: DIMENSIONS,
} as const satisfies Readonly<Record<string, readonly Dimension[]>>;
export type HistoryDimension = keyof typeof HISTORY_DIMENSIONS;

const NAMES = Object.keys(HISTORY_DIMENSIONS) as readonly HistoryDimension[];

/** Returns the grouping with exactly these dimensions. */
export function historyDimension(dimensions: readonly Dimension[]): HistoryDimension {
  return (
    NAMES.find((name) => membersOf(name).length === dimensions.length && dimensions.every((each) => membersOf(name).includes(each))) ??
    'every'
  );
}

/** Returns the dimensions of a grouping. */
export function membersOf(name: HistoryDimension): readonly Dimension[] {
  return HISTORY_DIMENSIONS[name];
}

/**
 * Returns the groupings that exist on a grid. Hours have single dimensions only: with several there would be hardly fewer rows than quarter
 * hours.
 */
export function historyDimensionsOf({ length }: Pick<Grid, 'length'>): readonly HistoryDimension[] {
  return length === 'day' ? NAMES : NAMES.filter((name) => membersOf(name).length === 1);
}
