import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { settings as t } from '../../strings/index.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { ERROR_AS_TOAST, linkedAccountsQuery, profileQuery, useProfileChange } from './queries.ts';

const DAYS = ['1', '7', '30', '90', '365'] as const;
const DAYS_DEFAULT = 7;

/** Recording of prompts and answers, data export, and closing the account. */
export function DataTab(): JSX.Element {
  return (
    <>
      <ContentCard />
      <Card title={t.export.title}>
        <p className="mb-4 text-sm">{t.export.text}</p>
        <a href="/api/settings/export" download className={buttonClass({})}>
          {t.export.action}
        </a>
      </Card>
      <CloseCard />
    </>
  );
}

function ContentCard(): JSX.Element {
  const { data: profile, error, refetch } = useQuery(profileQuery);
  const change = useProfileChange();
  const days = profile?.contentDays ?? null;
  const chosen = DAYS.find((choice) => choice === String(days));
  return (
    <Card title={t.content.title}>
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      <Switch
        label={t.content.label}
        hint={t.content.hint}
        isOn={days !== null}
        isDisabled={profile === undefined || change.isPending}
        onSwitch={(isOn) => change.mutate({ contentDays: isOn ? DAYS_DEFAULT : null }, ERROR_AS_TOAST)}
      />
      {days !== null && (
        <Field label={t.content.days} className="mt-4">
          {(wiring) => (
            <Select
              {...wiring}
              value={chosen ?? '365'}
              choices={DAYS.map((value) => ({ value, label: t.content.choices[value] }))}
              onChoose={(value) => change.mutate({ contentDays: Number(value) }, ERROR_AS_TOAST)}
            />
          )}
        </Field>
      )}
    </Card>
  );
}

function CloseCard(): JSX.Element {
  const { data: signInMethods } = useQuery(linkedAccountsQuery);
  const hasPassword = signInMethods?.hasPassword !== false;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Card title={t.close.title}>
      <p className="mb-4 text-sm">{t.close.text}</p>
      <Button variant="danger" onClick={() => setIsOpen(true)}>
        {t.close.action}
      </Button>
      {isOpen && <CloseDialog hasPassword={hasPassword} onClose={() => setIsOpen(false)} />}
    </Card>
  );
}

function CloseDialog({ hasPassword, onClose }: { readonly hasPassword: boolean; readonly onClose: () => void }): JSX.Element {
  const [password, setPassword] = useState('');
  const close = useMutation({
    mutationFn: () => call(api.settings.delete.$post({ json: hasPassword ? { password } : {} })),
    onSuccess: () => location.assign('/'),
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={close.isPending}
      title={t.close.title}
      text={hasPassword ? t.close.confirm : t.close.confirmFresh}
    >
      <Form
        action={t.close.action}
        isDanger
        onCancel={onClose}
        isBusy={close.isPending}
        isDisabled={hasPassword && password === ''}
        error={close.error}
        fields={hasPassword ? ['password'] : []}
        onSubmit={() => close.mutate()}
      >
        {hasPassword && (
          <Field label={t.close.password} error={fieldError(close.error, 'password')}>
            {(wiring) => <PasswordInput {...wiring} value={password} onText={setPassword} />}
          </Field>
        )}
      </Form>
    </Dialog>
  );
}
