import type { JSX } from 'react';
import { FactorCard } from './factor-card.tsx';
import { LinkedAccountsCard } from './linked-accounts-card.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';

/** Sign-in methods: password, second factor, passkeys and linked accounts. */
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
