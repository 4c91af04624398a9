import type { JSX } from 'react';
import { FactorCard } from './factor-card.tsx';
import { LinkedAccountsCard } from './linked-accounts-card.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';

/** How somebody signs in: password, second factor, passkeys, and accounts at others. */
export function SecurityTab(): JSX.Element {
  return (
    <>
      <PasswordCard />
      <FactorCard />
      <PasskeysCard />
      <LinkedAccountsCard />
    </>
  );
}
