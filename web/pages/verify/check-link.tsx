import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { hasSession } from '../../session.ts';
import { finishSignUp } from '../../sign-up.ts';
import { verify as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { useOnce } from '../../use-once.ts';

/** Verifies the email address of a link, or asks for the password if that is needed. */
export function CheckLink({ token }: { readonly token: string }): JSX.Element {
  const check = useQuery({
    queryKey: ['verification', token],
    queryFn: () => call(api.verification.$post({ json: { token } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (check.error !== null) return <ErrorState error={check.error} />;
  if (check.data === undefined) return <p role="status">{t.checking}</p>;
  if (check.data.state === 'verified') return <Verified />;
  return <AskPassword token={token} email={check.data.email} />;
}

/** Takes signed-in users on to their first key. Others get a link to sign in. */
function Verified(): JSX.Element {
  const navigate = useNavigate();
  const finish = useOnce(async () => {
    if (!(await hasSession())) return;
    await finishSignUp();
    toast('good', t.done);
    await navigate({ to: '/start', replace: true });
  });
  if (finish.error !== null) return <ErrorState error={finish.error} onRetry={() => finish.mutate()} />;
  return (
    <Banner
      tone="good"
      title={t.done}
      action={
        finish.isSuccess && (
          <LinkButton to="/sign-in" variant="primary" size="sm">
            {t.signIn}
          </LinkButton>
        )
      }
    />
  );
}

function AskPassword({ token, email }: { readonly token: string; readonly email: string }): JSX.Element {
  const [password, setPassword] = useState('');
  const verify = useMutation({ mutationFn: () => call(api.verification.$post({ json: { token, password } })) });
  if (verify.data?.state === 'verified') return <Verified />;
  return (
    <>
      <p className="mb-4 text-sm">{t.passwordNeeded(email)}</p>
      <Form isWide action={t.action} isBusy={verify.isPending} error={verify.error} fields={['password']} onSubmit={() => verify.mutate()}>
        <Field label={t.password} error={fieldError(verify.error, 'password')}>
          {(wiring) => <PasswordInput {...wiring} value={password} onText={setPassword} />}
        </Field>
      </Form>
      <LinkButton to="/forgot" variant="quiet" className="mt-3">
        {t.reset}
      </LinkButton>
    </>
  );
}
