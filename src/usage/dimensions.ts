import type { Grid } from './grid.ts';

/** What requests can be told apart by. */
export const DIMENSIONS = ['model', 'key', 'provider'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The columns that dimensions stand in, wherever requests are counted. */
export const COLUMN_OF: Readonly<Record<Dimension, 'model' | 'key_id' | 'provider'>> = {
  model: 'model',
  key: 'key_id',
  provider: 'provider',
};

/** What sums of the past are told apart by, under their names in the database. */
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

/** The sums that tell apart exactly these. */
export function pastDimension(dimensions: readonly Dimension[]): PastDimension {
  return (
    NAMES.find((name) => membersOf(name).length === dimensions.length && dimensions.every((each) => membersOf(name).includes(each))) ??
    'every'
  );
}

/** The dimensions that sums of the past tell apart. */
export function membersOf(name: PastDimension): readonly Dimension[] {
  return PAST_DIMENSIONS[name];
}

/** The sums that there are of a grid: of hours by one dimension only, for by several they would be hardly fewer than the quarters are. */
export function pastDimensionsOf({ length }: Pick<Grid, 'length'>): readonly PastDimension[] {
  return length === 'day' ? NAMES : NAMES.filter((name) => membersOf(name).length === 1);
}
