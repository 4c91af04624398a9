declare const nanos: unique symbol;
declare const picos: unique symbol;

/** Nano-dollars (1e-9 USD): the unit of balances, holds and charges. */
export type Nanos = bigint & { readonly [nanos]: true };

/** Pico-dollars (1e-12 USD) per token: the unit of prices. One pico-dollar per token is one micro-dollar per million tokens. */
export type Picos = bigint & { readonly [picos]: true };

/** Zero nano-dollars. */
export const NO_MONEY = 0n as Nanos;
/** What people and cards pay in. */
export const NANOS_PER_CENT = 10_000_000n;
const NANOS_PER_USD_DIGITS = 9;
const PICOS_PER_TOKEN_DIGITS = 6;
const PICOS_PER_NANO = 1000n;
/** Balances stay far below 2^63 nano-dollars, about 9.2 billion USD. */
const USD_WHOLE_DIGITS_MAX = 9;

/** Marks an integer number of nano-dollars as money. */
export function asNanos(value: bigint): Nanos {
  return value as Nanos;
}

/** Returns the smaller of two amounts. */
export function least(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

/** Returns the price of a number of tokens in pico-dollars. Exact, because both are integers. */
export function priceTokens(count: number, price: Picos): Picos {
  return (BigInt(count) * price) as Picos;
}

/** Rounds a sum of pico-dollars up to nano-dollars. Called once per request: rounding each part would overcharge. */
export function roundUpToNanos(sum: Picos): Nanos {
  return ((sum + PICOS_PER_NANO - 1n) / PICOS_PER_NANO) as Nanos;
}

/** Parses a decimal USD amount such as `12.5`. Undefined when it is not one or has more than nine decimals. */
export function parseUsd(text: string): Nanos | undefined {
  return parseDecimal(text, NANOS_PER_USD_DIGITS) as Nanos | undefined;
}

/** Parses a price in USD per million tokens such as `0.0375`. Undefined when it is not one or has more than six decimals. */
export function parsePrice(text: string): Picos | undefined {
  return parseDecimal(text, PICOS_PER_TOKEN_DIGITS) as Picos | undefined;
}

/** Formats an amount as decimal USD: exact, without exponent or trailing zeros. */
export function formatUsd(amount: Nanos): string {
  return formatDecimal(amount, NANOS_PER_USD_DIGITS);
}

/** Formats a price as decimal USD per million tokens, the way people compare prices. */
export function formatPricePerMillion(price: Picos): string {
  return formatDecimal(price, PICOS_PER_TOKEN_DIGITS);
}

/** Formats a price as decimal USD per token, the way model lists show it. */
export function formatPricePerToken(price: Picos): string {
  return formatDecimal(price, PICOS_PER_TOKEN_DIGITS * 2);
}

/** Formats an unrounded sum of pico-dollars as decimal USD. */
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
  const point = text.length - digits;
  let end = text.length;
  while (end > point && text[end - 1] === '0') end -= 1;
  return `${value < 0n ? '-' : ''}${text.slice(0, point)}${end === point ? '' : `.${text.slice(point, end)}`}`;
}
