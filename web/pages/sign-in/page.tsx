import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { ApiError } from '../../api.ts';
import { callAuth, canUsePasskeys, signInWithPasskey, wasCancelled } from '../../auth.ts';
import type { SignInAnswer } from '../../auth.ts';
import { ProviderButtons } from '../../provider-buttons.tsx';
import { providerError } from '../../providers.ts';
import type { Provider } from '../../providers.ts';
import { setupQuery } from '../../queries.ts';
import { enterDashboard } from '../../session.ts';
import { signIn as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { TextInput } from '../../ui/text-input.tsx';

const route = getRouteApi('/account/sign-in');

/** Sign-in with a password (and a second factor if enabled), a passkey, or an identity provider. */
export function SignInPage(): JSX.Element {
  const { to } = route.useSearch();
  const navigate = useNavigate();
  const { data: setup } = useQuery(setupQuery);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => callAuth<SignInAnswer>('POST', '/sign-in/email', { email, password }),
    onSuccess: ({ twoFactorRedirect }) =>
      twoFactorRedirect === true ? navigate({ to: '/two-factor', search: to === undefined ? {} : { to } }) : enterDashboard(to),
  });
  const usePasskey = useMutation({ mutationFn: signInWithPasskey, onSuccess: () => enterDashboard(to) });
  const passkeyError = wasCancelled(usePasskey.error) ? undefined : usePasskey.error;
  const isUnverified = signIn.error instanceof ApiError && signIn.error.code === 'email_not_verified';
  return (
    <>
      <PageHeader title={t.title} />
      <Card>
        <ProviderRefusal providers={setup?.providers ?? []} />
        {isUnverified && <Unverified email={email} />}
        <Form
          isWide
          action={t.action}
          isBusy={signIn.isPending}
          error={isUnverified ? undefined : (signIn.error ?? passkeyError)}
          fields={['email']}
          onSubmit={() => signIn.mutate()}
        >
          <Field label={t.email} error={fieldError(signIn.error, 'email')}>
            {(wiring) => (
              <TextInput {...wiring} type="email" required autoComplete="username webauthn" value={email} onText={setEmail} autoFocus />
            )}
          </Field>
          <Field label={t.password}>{(wiring) => <PasswordInput {...wiring} value={password} onText={setPassword} />}</Field>
        </Form>
        {canUsePasskeys() && (
          <Button className="mt-3 w-full" isBusy={usePasskey.isPending} onClick={() => usePasskey.mutate()}>
            <KeyRound aria-hidden="true" />
            {t.passkey}
          </Button>
        )}
        <ProviderButtons providers={setup?.providers ?? []} to={to} />
      </Card>
      <OtherLinks />
    </>
  );
}

/** Why signing in through a provider failed. */
function ProviderRefusal({ providers }: { readonly providers: readonly Provider[] }): JSX.Element | null {
  const { error, with: providerId } = route.useSearch();
  if (error === undefined) return null;
  return (
    <div className="mb-4">
      <Banner tone="bad" title={t.refused}>
        {providerError(error, providers.find(({ id }) => id === providerId)?.name)}
      </Banner>
    </div>
  );
}

function Unverified({ email }: { readonly email: string }): JSX.Element {
  const action = (
    <LinkButton size="sm" to="/verify" search={{ email }}>
      {t.unverified.action}
    </LinkButton>
  );
  return (
    <div className="mb-4">
      <Banner tone="warn" title={t.unverified.title} action={action} />
    </div>
  );
}

function OtherLinks(): JSX.Element {
  return (
    <p className="mt-4 flex flex-wrap justify-between gap-2 text-sm text-muted">
      <Link to="/forgot" className="link">
        {t.forgot}
      </Link>
      <span>
        {t.noAccount}{' '}
        <Link to="/sign-up" className="link">
          {t.signUp}
        </Link>
      </span>
    </p>
  );
}
