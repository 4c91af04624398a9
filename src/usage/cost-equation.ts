import { asNanos, NO_MONEY, priceTokens, roundUpToNanos, type Nanos, type Picos } from '../ledger/money.ts';
import type { RequestRow } from './requests.ts';

/** One line of the equation: a number of tokens at a price. */
export interface CostPart {
  readonly bucket: 'input' | 'cached_input' | 'cache_write' | 'output';
  readonly tokens: number;
  readonly price: Picos;
  readonly amount: Picos;
}

/** How the cost of a request comes about. */
export type CostEquation =
  | {
      readonly type: 'computed';
      readonly priceVersion: number;
      readonly parts: readonly CostPart[];
      readonly sum: Picos;
      /** The sum, rounded up once. */
      readonly rounded: Nanos;
      /** Set when the long prices applied: the input length above which they do. */
      readonly longOverTokens: number | undefined;
      /**
       * The amount charged. Lower than the rounded sum only for a request recovered from a dead process, which is charged at most its hold.
       */
      readonly cost: Nanos;
      /** True when the equation matches the charge to the nano-dollar. */
      readonly isExact: boolean;
    }
  /** Nothing was charged because the request failed, whatever tokens it used. */
  | { readonly type: 'free' }
  /** The request is older than the price records. */
  | { readonly type: 'unrecorded'; readonly cost: Nanos };

/** The prices of one version, by name. */
export type PriceItems = ReadonlyMap<string, bigint>;

/** Recomputes the cost from the recorded counts and prices. */
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

/** A prompt that was read several times counts as long if its average is: see ledger/price.ts. */
function isLong(row: RequestRow, prices: PriceItems, failedAttempts: number): boolean {
  const over = prices.get('long_over');
  if (over === undefined) return false;
  const prompts = row.attempts < 2n ? 1n : row.attempts - BigInt(failedAttempts);
  return row.input_tokens + row.cached_input_tokens + row.cache_write_tokens > over * prompts;
}
