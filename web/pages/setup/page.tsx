import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { finishSignUp } from '../../sign-up.ts';
import { setup as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Card } from '../../ui/card.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { NewPasswordField } from '../../ui/new-password-field.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TextInput } from '../../ui/text-input.tsx';

const route = getRouteApi('/account/setup');

/** Sign-up of the first operator, through the link that the first start prints. */
export function SetupPage(): JSX.Element {
  const { token = '' } = route.useSearch();
  const link = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call(api.invitations[':token'].$get({ param: { token } })),
    enabled: token !== '',
    retry: false,
  });
  const isOpen = link.data?.kind === 'operator' && link.data.state === 'open';
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card>{link.isLoading ? <Skeleton className="h-40 w-full" /> : isOpen ? <SetupForm token={token} /> : <InvalidLink />}</Card>
    </>
  );
}

function SetupForm({ token }: { readonly token: string }): JSX.Element {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const setUp = useMutation({
    mutationFn: () => call(api.setup.$post({ json: { token, name, email, password } })),
    onSuccess: async () => {
      await finishSignUp();
      return navigate({ to: '/admin/first-steps' });
    },
  });
  return (
    <Form
      isWide
      action={t.action}
      isBusy={setUp.isPending}
      error={setUp.error}
      fields={['name', 'email', 'password']}
      onSubmit={() => setUp.mutate()}
    >
      <Field label={t.name} isOptional error={fieldError(setUp.error, 'name')}>
        {(wiring) => <TextInput {...wiring} autoComplete="name" value={name} onText={setName} autoFocus />}
      </Field>
      <Field label={t.email} error={fieldError(setUp.error, 'email')}>
        {(wiring) => <TextInput {...wiring} type="email" required autoComplete="username" value={email} onText={setEmail} />}
      </Field>
      <NewPasswordField
        label={t.password}
        value={password}
        email={email}
        error={fieldError(setUp.error, 'password')}
        onText={setPassword}
      />
    </Form>
  );
}

function InvalidLink(): JSX.Element {
  return (
    <div className="flex flex-col gap-4">
      <Banner tone="warn" title={t.missing.title}>
        {t.missing.text}
      </Banner>
      <CodeBlock snippets={[{ id: 'command', label: t.missing.label, code: t.missing.command }]} />
      <LinkButton to="/sign-in" className="self-start">
        {t.signIn}
      </LinkButton>
    </div>
  );
}
