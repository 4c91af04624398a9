import type { HouseAccount } from '../ledger/credit.ts';

const CLEARING: Readonly<Record<string, HouseAccount>> = { stripe: 'stripe_clearing', manual: 'manual_clearing' };

/** Returns the house account that a provider's money goes through. */
export function clearingOf(provider: string): HouseAccount {
  const house = CLEARING[provider];
  if (house === undefined) throw new Error(`There is no clearing account for ${provider}`);
  return house;
}
