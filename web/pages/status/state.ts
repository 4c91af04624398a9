/** What the figures come to, in a word. */
export type State = 'good' | 'warn' | 'bad' | 'none';

export const TONES = { good: 'good', warn: 'warn', bad: 'bad', none: 'neutral' } as const;

const GOOD_PART = 0.99;
const WARN_PART = 0.8;

/** Working from 99 % on, failing under 80 %; without traffic nobody can say. */
export function stateOf(measured: { readonly successPart: number } | null): State {
  if (measured === null) return 'none';
  return measured.successPart >= GOOD_PART ? 'good' : measured.successPart >= WARN_PART ? 'warn' : 'bad';
}
