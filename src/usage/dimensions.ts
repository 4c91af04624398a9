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
const PAST_DIMENSIONS = {
  model: ['model'],
  key: ['key'],
  provider: ['provider'],
  model_key: ['model', 'key'],
  model_provider: ['model', 'provider'],
  key_provider: ['key', 'provider'],
  every: DIMENSIONS,
} as const satisfies Readonly<Record<string, readonly Dimension[]>>;
export type PastDimension = keyof typeof PAST_DIMENSIONS;

const NAMES = Object.keys(PAST_DIMENSIONS) as readonly PastDimension[];

/** Returns the grouping with exactly these dimensions. */
export function pastDimension(dimensions: readonly Dimension[]): PastDimension {
  return (
    NAMES.find((name) => membersOf(name).length === dimensions.length && dimensions.every((each) => membersOf(name).includes(each))) ??
    'every'
  );
}

/** Returns the dimensions of a grouping. */
export function membersOf(name: PastDimension): readonly Dimension[] {
  return PAST_DIMENSIONS[name];
}

/**
 * Returns the groupings that exist on a grid. Hours have single dimensions only: with several there would be hardly fewer rows than quarter
 * hours.
 */
export function pastDimensionsOf({ length }: Pick<Grid, 'length'>): readonly PastDimension[] {
  return length === 'day' ? NAMES : NAMES.filter((name) => membersOf(name).length === 1);
}
