const MILLION_DIGITS = 6;

/** Converts a decimal price per token to one per million tokens: the point moves six places to the right. */
export function perMillion(price: string): string {
  const [whole = '0', fraction = ''] = price.split('.');
  const digits = fraction.padEnd(MILLION_DIGITS, '0');
  const moved = `${whole}${digits.slice(0, MILLION_DIGITS)}`.replace(/^0+(?=\d)/u, '');
  const rest = digits.slice(MILLION_DIGITS);
  return rest === '' ? moved : `${moved}.${rest}`;
}
