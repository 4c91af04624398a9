import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { callAuth } from '../../auth.ts';
import type { SignInAnswer } from '../../auth.ts';
import { ProviderButtons } from '../../provider-buttons.tsx';
import type { Provider } from '../../providers.ts';
import { finishSignUp, saveCode } from '../../sign-up.ts';
import { signUp as t } from '../../strings/index.ts';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { NewPasswordField } from '../../ui/new-password-field.tsx';
import { TextInput } from '../../ui/text-input.tsx';

const route = getRouteApi('/account/sign-up');

interface SignUpFormProps {
  readonly invitation: string | undefined;
  readonly invitedEmail: string | undefined;
  readonly providers: readonly Provider[];
}

/** Sign-up form: email, password and promo code. Continues in the dashboard, or with the verification email. */
export function SignUpForm({ invitation, invitedEmail, providers }: SignUpFormProps): JSX.Element {
  const { code: codeFromLink = '' } = route.useSearch();
  const navigate = useNavigate();
  const [email, setEmail] = useState(invitedEmail ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState(codeFromLink);
  const signUp = useMutation({
    mutationFn: () => callAuth<SignInAnswer>('POST', '/sign-up/email', { name: '', email, password, invitation }),
    onSuccess: async ({ isSignedIn }) => {
      saveCode(code);
      if (isSignedIn !== true) return navigate({ to: '/verify', search: { email } });
      await finishSignUp();
      return navigate({ to: '/start' });
    },
  });
  return (
    <>
      <Form
        isWide
        action={t.action}
        isBusy={signUp.isPending}
        error={signUp.error}
        fields={['email', 'password']}
        onSubmit={() => signUp.mutate()}
      >
        {invitedEmail !== undefined && <p className="text-sm text-muted">{t.invited}</p>}
        <Field label={t.email} error={fieldError(signUp.error, 'email')}>
          {(wiring) => (
            <TextInput
              {...wiring}
              type="email"
              required
              autoComplete="username"
              readOnly={invitedEmail !== undefined}
              value={email}
              onText={setEmail}
              autoFocus
            />
          )}
        </Field>
        <NewPasswordField
          label={t.password}
          value={password}
          email={email}
          error={fieldError(signUp.error, 'password')}
          onText={setPassword}
        />
        <Field label={t.code} isOptional>
          {(wiring) => <TextInput {...wiring} autoComplete="off" spellCheck={false} value={code} onText={setCode} />}
        </Field>
      </Form>
      <ProviderButtons providers={providers} invitation={invitation} onLeave={() => saveCode(code)} />
    </>
  );
}
