import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { verify as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { CheckLink } from './check-link.tsx';
import { WaitForEmail } from './wait-for-email.tsx';

const route = getRouteApi('/account/verify');

/** Email verification: waits for the email, and handles the link in it. */
export function VerifyPage(): JSX.Element {
  const { token } = route.useSearch();
  return (
    <>
      <PageHeader title={t.title} />
      <Card>{token === undefined ? <WaitForEmail /> : <CheckLink token={token} />}</Card>
    </>
  );
}
