import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { formatUsd, signOf } from '../../money.ts';
import { setupQuery } from '../../queries.ts';
import { signUp as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { SignUpForm } from './sign-up-form.tsx';

const route = getRouteApi('/account/sign-up');

/** Sign-up: email address and password. The next page shows the first key. */
export function SignUpPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Credit />
      <Card>
        <FormOrRefusal />
      </Card>
      <p className="mt-4 text-sm text-muted">
        {t.hasAccount}{' '}
        <Link to="/sign-in" className="link">
          {t.signIn}
        </Link>
      </p>
    </>
  );
}

/** What a new account gets, if anything. */
function Credit(): JSX.Element | null {
  const { data: setup } = useQuery(setupQuery);
  if (setup === undefined || setup.signUp === 'closed' || signOf(setup.signUpCreditUsd) <= 0) return null;
  return (
    <div className="mb-4">
      <Banner tone="good" title={t.credit(formatUsd(setup.signUpCreditUsd))}>
        {t.creditText}
      </Banner>
    </div>
  );
}

/** The form if sign-up is open to the visitor, otherwise an explanation. */
function FormOrRefusal(): JSX.Element {
  const { invitation: token } = route.useSearch();
  const setup = useQuery(setupQuery);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call(api.invitations[':token'].$get({ param: { token: token ?? '' } })),
    enabled: token !== undefined,
  });
  if (setup.error !== null || invitation.error !== null) return <ErrorState error={setup.error ?? invitation.error} />;
  if (setup.data === undefined || (token !== undefined && invitation.data === undefined)) return <Skeleton className="h-40 w-full" />;
  if (setup.data.signUp === 'closed') return <Refusal {...t.closed} />;
  if (invitation.data !== undefined && invitation.data.state !== 'open') return <Refusal {...t[invitation.data.state]} />;
  if (setup.data.signUp === 'invite' && token === undefined) return <Refusal {...t.invite} />;
  return <SignUpForm invitation={token} invitedEmail={invitation.data?.email ?? undefined} providers={setup.data.providers} />;
}

function Refusal({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <Banner tone="warn" title={title}>
      {text}
    </Banner>
  );
}
