declare const nanos: unique symbol;
declare const picos: unique symbol;

/** Nano-dollars (1e-9 USD): the unit of balances, holds and charges. */
export type Nanos = bigint & { readonly [nanos]: true };

/** Pico-dollars (1e-12 USD) per token: the unit of prices. One pico-dollar a token is one micro-dollar a million tokens. */
export type Picos = bigint & { readonly [picos]: true };

export const NO_MONEY = 0n as Nanos;
const NANOS_PER_USD_DIGITS = 9;
const PICOS_PER_TOKEN_DIGITS = 6;
const PICOS_PER_NANO = 1000n;
/** Balances stay far below 2^63 nano-dollars, about 9.2 billion USD. */
const USD_WHOLE_DIGITS_MAX = 9;

/** Marks an integer count of nano-dollars as money. */
export function asNanos(value: bigint): Nanos {
  return value as Nanos;
}

/** The smaller of two amounts. */
export function least(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

/** The price of a number of tokens, in pico-dollars: exact, because both are integers. */
export function priceTokens(count: number, price: Picos): Picos {
  return (BigInt(count) * price) as Picos;
}

/** Rounds a sum of pico-dollars up to nano-dollars. Done once per request: rounding each part would overcharge. */
export function roundUpToNanos(sum: Picos): Nanos {
  return ((sum + PICOS_PER_NANO - 1n) / PICOS_PER_NANO) as Nanos;
}

/** Reads a decimal amount of USD, such as `12.5`; undefined when it is none or has more than nine decimals. */
export function parseUsd(text: string): Nanos | undefined {
  return parseDecimal(text, NANOS_PER_USD_DIGITS) as Nanos | undefined;
}

/** Reads a price in USD per million tokens, such as `0.0375`; undefined when it is none or has more than six decimals. */
export function parsePrice(text: string): Picos | undefined {
  return parseDecimal(text, PICOS_PER_TOKEN_DIGITS) as Picos | undefined;
}

/** A decimal USD string: exact, without an exponent and without needless zeros. */
export function formatUsd(amount: Nanos): string {
  return formatDecimal(amount, NANOS_PER_USD_DIGITS);
}

/** A price as decimal USD per million tokens, which is how people compare them. */
export function formatPricePerMillion(price: Picos): string {
  return formatDecimal(price, PICOS_PER_TOKEN_DIGITS);
}

/** A price as decimal USD per token, which is how model lists show it. */
export function formatPricePerToken(price: Picos): string {
  return formatDecimal(price, PICOS_PER_TOKEN_DIGITS * 2);
}

/** A sum of pico-dollars as decimal USD, before it is rounded. */
export function formatPicos(sum: Picos): string {
  return formatDecimal(sum, PICOS_PER_TOKEN_DIGITS * 2);
}

function parseDecimal(text: string, digits: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  if (fraction.length > digits || whole.length > USD_WHOLE_DIGITS_MAX) return undefined;
  const value = BigInt(whole + fraction.padEnd(digits, '0'));
  return sign === '-' ? -value : value;
}

function formatDecimal(value: bigint, digits: number): string {
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, -digits);
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
