import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { callAuth } from '../../auth.ts';
import { reset as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Card } from '../../ui/card.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { NewPasswordField } from '../../ui/new-password-field.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

const route = getRouteApi('/account/reset');

/** Form for a new password. Each link works once. */
export function ResetPage(): JSX.Element {
  const { token } = route.useSearch();
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card>{token === undefined ? <MissingToken /> : <ResetForm token={token} />}</Card>
    </>
  );
}

function ResetForm({ token }: { readonly token: string }): JSX.Element {
  const [password, setPassword] = useState('');
  const reset = useMutation({ mutationFn: () => callAuth('POST', '/reset-password', { token, newPassword: password }) });
  const signIn = (
    <LinkButton to="/sign-in" variant="primary" size="sm">
      {t.signIn}
    </LinkButton>
  );
  if (reset.isSuccess)
    return (
      <Banner tone="good" title={t.done} action={signIn}>
        {t.firstProof}
      </Banner>
    );
  const passwordError = fieldError(reset.error, 'newPassword') ?? fieldError(reset.error, 'password');
  return (
    <>
      <Form
        isWide
        action={t.action}
        isBusy={reset.isPending}
        error={reset.error}
        fields={['newPassword', 'password']}
        onSubmit={() => reset.mutate()}
      >
        <NewPasswordField label={t.password} value={password} error={passwordError} onText={setPassword} />
      </Form>
      {reset.error !== null && passwordError === undefined && (
        <LinkButton to="/forgot" variant="quiet" className="mt-3">
          {t.again}
        </LinkButton>
      )}
    </>
  );
}

function MissingToken(): JSX.Element {
  return (
    <Banner tone="warn" title={t.missing.title} action={<LinkButton to="/forgot">{t.again}</LinkButton>}>
      {t.missing.text}
    </Banner>
  );
}
