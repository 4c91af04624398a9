export const BALANCE = 'balance';

/** A card without a reference: a new card when a plan is taken, the card saved last when it renews. */
export const UNNAMED_CARD = 'card';

/** Converts a chosen payment method, which may be the reference of a saved card, to the fields of the API. */
export function toPayment(method: string): { payBy: 'balance' | 'card'; methodRef?: string } {
  if (method === BALANCE) return { payBy: 'balance' };
  return method === UNNAMED_CARD ? { payBy: 'card' } : { payBy: 'card', methodRef: method };
}
