import { asNanos, NO_MONEY, priceTokens, roundUpToNanos, type Nanos, type Picos } from '../ledger/money.ts';
import type { RequestRow } from './requests.ts';

/** One line of the equation: so many tokens at this price. */
export interface CostPart {
  readonly bucket: 'input' | 'cached_input' | 'cache_write' | 'output';
  readonly tokens: number;
  readonly price: Picos;
  readonly amount: Picos;
}

/** Why a request cost what it did. */
export type CostEquation =
  | {
      readonly type: 'computed';
      readonly priceVersion: number;
      readonly parts: readonly CostPart[];
      readonly sum: Picos;
      /** The sum, rounded up once. */
      readonly rounded: Nanos;
      /** Above this many tokens of input the long prices count, and they did. */
      readonly longOverTokens: number | undefined;
      /** What was charged: less than the rounded sum only where a dead process left a request open, and then what was held. */
      readonly cost: Nanos;
      /** True when the equation gives what was charged, to the nano-dollar. */
      readonly isExact: boolean;
    }
  /** Nothing was charged because the request failed, whatever it used. */
  | { readonly type: 'free' }
  /** The request is older than the record of prices. */
  | { readonly type: 'unrecorded'; readonly cost: Nanos };

/** The prices of one version, by their names. */
export type PriceItems = ReadonlyMap<string, bigint>;

/** Works out the cost once more, from the counts and the prices that are on record. */
export function explainCost(row: RequestRow, prices: PriceItems, failedAttempts: number): CostEquation {
  const cost = asNanos(row.cost);
  if (row.outcome === 'failed' && cost === NO_MONEY) return { type: 'free' };
  if (prices.size === 0) return { type: 'unrecorded', cost };
  const prefix = isLong(row, prices, failedAttempts) ? 'long_' : '';
  const part = (bucket: CostPart['bucket'], count: bigint): CostPart => {
    const price = (prices.get(prefix + bucket) ?? 0n) as Picos;
    return { bucket, tokens: Number(count), price, amount: priceTokens(Number(count), price) };
  };
  const parts = [
    part('input', row.input_tokens),
    part('cached_input', row.cached_input_tokens),
    part('cache_write', row.cache_write_tokens),
    part('output', row.output_tokens),
  ];
  const sum = parts.reduce((total, { amount }) => total + amount, 0n) as Picos;
  const rounded = roundUpToNanos(sum);
  const due = row.outcome === 'recovered' && rounded > row.held ? asNanos(row.held) : rounded;
  const longOverTokens = prefix === '' ? undefined : Number(prices.get('long_over'));
  return { type: 'computed', priceVersion: Number(row.price_version), parts, sum, rounded, longOverTokens, cost, isExact: due === cost };
}

/** A prompt that was read several times is long if it is so on average: see ledger/price.ts. */
function isLong(row: RequestRow, prices: PriceItems, failedAttempts: number): boolean {
  const over = prices.get('long_over');
  if (over === undefined) return false;
  const prompts = row.attempts < 2n ? 1n : row.attempts - BigInt(failedAttempts);
  return row.input_tokens + row.cached_input_tokens + row.cache_write_tokens > over * prompts;
}
