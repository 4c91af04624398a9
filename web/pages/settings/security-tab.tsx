import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { askAuth } from '../../people.ts';
import { settings as t, signUp } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { FactorCard } from './factor-card.tsx';
import { PasskeysCard } from './passkeys-card.tsx';

/** How somebody signs in: password, second factor, passkeys. */
export function SecurityTab(): JSX.Element {
  return (
    <>
      <PasswordCard />
      <FactorCard />
      <PasskeysCard />
    </>
  );
}

function PasswordCard(): JSX.Element {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: () => askAuth('POST', '/change-password', { currentPassword, newPassword }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
      toast('good', t.password.done);
    },
  });
  return (
    <Card title={t.password.title}>
      <Form
        action={t.password.action}
        isBusy={change.isPending}
        error={change.error}
        fields={['newPassword', 'password']}
        onSubmit={() => change.mutate()}
      >
        <Field label={t.password.current}>{(wiring) => <PasswordInput {...wiring} value={currentPassword} onText={setCurrent} />}</Field>
        <Field
          label={t.password.next}
          hint={signUp.passwordHint}
          error={fieldError(change.error, 'newPassword') ?? fieldError(change.error, 'password')}
        >
          {(wiring) => <PasswordInput {...wiring} isNew value={newPassword} onText={setNew} />}
        </Field>
      </Form>
    </Card>
  );
}
