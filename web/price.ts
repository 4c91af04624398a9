/** Cost of tokens in integers, as on the server: prices are pico-dollars per token, amounts are nano-dollars. */

/** Prices in USD per million tokens, as decimal strings. */
export interface Prices {
  readonly input: string;
  readonly cachedInput: string;
  readonly cacheWrite: string;
  readonly output: string;
}

export interface Tokens {
  /** Input tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
}

export interface Priced {
  readonly price: Prices;
  readonly longPrice: (Prices & { readonly overTokens: number }) | null;
}

const KINDS = ['input', 'cachedInput', 'cacheWrite', 'output'] as const;
const PRICE_DECIMALS = 6;
const NANO_DECIMALS = 9;
const PICOS_PER_NANO = 1000n;

/** Returns the cost of one request as a decimal string of dollars, rounded up to a nano-dollar once, as the server does. */
export function costOf(model: Priced, tokens: Tokens): string {
  return fromNanos(nanosOf(model, tokens));
}

/** Returns the cost of many equal requests. */
export function costOfMany(model: Priced, tokens: Tokens, requests: number): string {
  return fromNanos(nanosOf(model, tokens) * BigInt(requests));
}

/** Converts an amount that arrived as a JSON number, such as `usage.cost`, to a decimal string. It has at most nine decimals. */
export function usdOf(amount: number): string {
  return amount.toFixed(NANO_DECIMALS).replace(/\.?0+$/u, '');
}

function nanosOf({ price, longPrice }: Priced, tokens: Tokens): bigint {
  const prompt = tokens.input + tokens.cachedInput + tokens.cacheWrite;
  const prices = longPrice !== null && prompt > longPrice.overTokens ? longPrice : price;
  const picos = KINDS.reduce((sum, kind) => sum + BigInt(Math.max(0, Math.round(tokens[kind]))) * picosOf(prices[kind]), 0n);
  return (picos + PICOS_PER_NANO - 1n) / PICOS_PER_NANO;
}

/** Converts dollars per million tokens to pico-dollars per token: the decimal point moves six places. */
function picosOf(price: string): bigint {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0').slice(0, PRICE_DECIMALS));
}

function fromNanos(nanos: bigint): string {
  const digits = String(nanos).padStart(NANO_DECIMALS + 1, '0');
  return `${digits.slice(0, -NANO_DECIMALS)}.${digits.slice(-NANO_DECIMALS)}`.replace(/\.?0+$/u, '');
}
