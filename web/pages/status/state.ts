/** State of a provider, derived from its success rate. */
export type State = 'good' | 'warn' | 'bad' | 'none';

export const TONES = { good: 'good', warn: 'warn', bad: 'bad', none: 'neutral' } as const;

const GOOD_PART = 0.99;
const WARN_PART = 0.8;

/** Good from 99 % success on, bad below 80 %, and none without traffic. */
export function stateOf(measured: { readonly successPart: number } | null): State {
  if (measured === null) return 'none';
  return measured.successPart >= GOOD_PART ? 'good' : measured.successPart >= WARN_PART ? 'warn' : 'bad';
}
