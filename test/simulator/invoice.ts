import type { Usage } from './wire.ts';

/** Pico-dollars per token: a price in USD per million tokens, times a million. */
interface PicoPrices {
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly cacheWrite: bigint;
  readonly output: bigint;
}

/** The prices of `mock/gpt` in the test settings. */
const PRICE_PICO: PicoPrices = { input: 2_500_000n, cachedInput: 1_250_000n, cacheWrite: 3_125_000n, output: 10_000_000n };
const NANOS_PER_USD = 1_000_000_000n;

/** Returns the cost of a request with these token counts: exact in pico-dollars, rounded up once to nano-dollars. */
export function costNanos(usage: Usage, prices: PicoPrices = PRICE_PICO): bigint {
  const { cached_tokens: cached, cache_write_tokens: written } = usage.prompt_tokens_details;
  const uncached = usage.prompt_tokens - cached - written;
  const picos =
    BigInt(uncached) * prices.input +
    BigInt(cached) * prices.cachedInput +
    BigInt(written) * prices.cacheWrite +
    BigInt(usage.completion_tokens) * prices.output;
  return (picos + 999n) / 1000n;
}

/** Returns what the caller is shown: the provider's counts and their cost in USD. */
export function withCost<Reported extends Usage>(usage: Reported): Reported & { readonly cost: number } {
  return { ...usage, cost: Number(costNanos(usage)) / Number(NANOS_PER_USD) };
}

/** Parses a decimal amount of US dollars, such as `-0.0025`, without floating point. */
export function parseNanos(usd: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,9}))?$/u.exec(usd);
  if (match === null) throw new Error(`not a decimal amount: ${usd}`);
  const [, sign, whole = '0', fraction = ''] = match;
  const nanos = BigInt(whole) * NANOS_PER_USD + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -nanos : nanos;
}
