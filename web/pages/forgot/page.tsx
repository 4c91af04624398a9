import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { callAuth } from '../../auth.ts';
import { setupQuery } from '../../queries.ts';
import { forgot as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { TextInput } from '../../ui/text-input.tsx';

/** Password reset request. The response is the same whether or not the account exists. */
export function ForgotPage(): JSX.Element {
  const { data: setup } = useQuery(setupQuery);
  const [email, setEmail] = useState('');
  const requestReset = useMutation({ mutationFn: () => callAuth('POST', '/request-password-reset', { email }) });
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card>
        {requestReset.isSuccess ? (
          <Banner tone="good" title={setup?.hasMail === false ? t.noMail : t.sent(email)} />
        ) : (
          <Form
            isWide
            action={t.action}
            isBusy={requestReset.isPending}
            error={requestReset.error}
            fields={['email']}
            onSubmit={() => requestReset.mutate()}
          >
            <Field label={t.email} error={fieldError(requestReset.error, 'email')}>
              {(wiring) => (
                <TextInput {...wiring} type="email" required autoComplete="username" value={email} onText={setEmail} autoFocus />
              )}
            </Field>
          </Form>
        )}
      </Card>
      <p className="mt-4 text-sm">
        <Link to="/sign-in" className="link">
          {t.back}
        </Link>
      </p>
    </>
  );
}
