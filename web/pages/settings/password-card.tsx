import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { callAuth } from '../../auth.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { NewPasswordField } from '../../ui/new-password-field.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { linkedAccountsQuery } from './queries.ts';

const t = settings.password;

/** Form to change the password, or to set the first one of a user who signed up through a provider. */
export function PasswordCard(): JSX.Element {
  const { data } = useQuery(linkedAccountsQuery);
  const { data: account } = useQuery(accountQuery);
  const hasPassword = data?.hasPassword !== false;
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: async () => {
      if (hasPassword) await callAuth('POST', '/change-password', { currentPassword, newPassword });
      else await call(api.settings.password.$post({ json: { newPassword } }));
    },
    onSuccess: async () => {
      setCurrent('');
      setNew('');
      toast('good', hasPassword ? t.done : t.set);
      await queryClient.invalidateQueries({ queryKey: linkedAccountsQuery.queryKey });
    },
  });
  return (
    <Card title={t.title} {...(!hasPassword && { hint: t.none })}>
      <Form
        action={hasPassword ? t.action : t.setAction}
        isBusy={change.isPending}
        isDisabled={newPassword === '' || (hasPassword && currentPassword === '')}
        error={change.error}
        fields={['newPassword', 'password']}
        onSubmit={() => change.mutate()}
      >
        {hasPassword && (
          <Field label={t.current}>{(wiring) => <PasswordInput {...wiring} value={currentPassword} onText={setCurrent} />}</Field>
        )}
        <NewPasswordField
          label={t.next}
          value={newPassword}
          email={account?.email}
          error={fieldError(change.error, 'newPassword') ?? fieldError(change.error, 'password')}
          onText={setNew}
        />
      </Form>
    </Card>
  );
}
