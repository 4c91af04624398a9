import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { NUMBER_FORMATS, numberFormatChoice, sampleOf, useNumberFormat } from '../../number-format.ts';
import type { NumberFormat } from '../../number-format.ts';
import { callAuth } from '../../auth.ts';
import { setupQuery } from '../../queries.ts';
import { settings as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { useZone, zoneChoice, zoneChoices } from '../../zone.ts';
import { ERROR_AS_TOAST, profileQuery, useProfileChange } from './queries.ts';
import type { Profile } from './queries.ts';

const FORMATS = NUMBER_FORMATS.map((value) => ({ value, label: sampleOf(value) }));

/** Name, email address, time zone and number format. */
export function ProfileTab(): JSX.Element {
  const profile = useQuery(profileQuery);
  if (profile.data === undefined)
    return <LoadingOrError error={profile.error} onRetry={() => void profile.refetch()} className="h-40 w-full" />;
  return (
    <>
      <NameCard profile={profile.data} />
      <EmailCard profile={profile.data} />
      <ZoneCard />
    </>
  );
}

interface CardProps {
  readonly profile: Profile;
}

function NameCard({ profile }: CardProps): JSX.Element {
  const [name, setName] = useState(profile.name);
  const change = useProfileChange();
  const isNew = name.trim() !== '' && name.trim() !== profile.name;
  return (
    <Card title={t.profile.title}>
      <Form
        action={t.save}
        isBusy={change.isPending}
        isDisabled={!isNew}
        error={change.error}
        fields={['name']}
        onSubmit={() => change.mutate({ name })}
      >
        <Field label={t.profile.name} hint={t.profile.nameHint} error={fieldError(change.error, 'name')}>
          {(wiring) => <TextInput {...wiring} autoComplete="name" value={name} onText={setName} />}
        </Field>
      </Form>
    </Card>
  );
}

function EmailCard({ profile: { email, isEmailVerified } }: CardProps): JSX.Element {
  const { data: setup } = useQuery(setupQuery);
  const isPrinted = setup?.hasMail === false;
  const [newEmail, setNewEmail] = useState('');
  const sendAgain = useMutation({
    mutationFn: () => callAuth('POST', '/send-verification-email', { email }),
    onSuccess: () => toast('good', isPrinted ? t.email.printed : t.email.sent),
    onError: (error) => toast('bad', error.message),
  });
  const change = useMutation({ mutationFn: () => callAuth('POST', '/change-email', { newEmail }) });
  return (
    <Card title={t.email.title}>
      <p className="mb-4 flex flex-wrap items-center gap-2 text-sm">
        <span className="min-w-0 break-words">{email}</span>
        <Badge tone={isEmailVerified ? 'good' : 'warn'}>{isEmailVerified ? t.email.verified : t.email.unverified}</Badge>
        {!isEmailVerified && (
          <Button size="sm" isBusy={sendAgain.isPending} onClick={() => sendAgain.mutate()}>
            {t.email.again}
          </Button>
        )}
      </p>
      {change.isSuccess ? (
        <p role="status" className="text-sm">
          {isPrinted ? t.email.changingPrinted(newEmail) : t.email.changing(newEmail)}
        </p>
      ) : (
        <Form
          action={t.email.action}
          isBusy={change.isPending}
          isDisabled={newEmail.trim() === ''}
          error={change.error}
          fields={['newEmail']}
          onSubmit={() => change.mutate()}
        >
          <Field label={t.email.label} error={fieldError(change.error, 'newEmail')}>
            {(wiring) => <TextInput {...wiring} type="email" autoComplete="email" value={newEmail} onText={setNewEmail} />}
          </Field>
        </Form>
      )}
    </Card>
  );
}

/** Time zone and number format. They are saved in this browser and with the account, for the next browser. */
function ZoneCard(): JSX.Element {
  const shown = useZone();
  const numberFormat = useNumberFormat();
  const change = useProfileChange();
  const choose = (zone: string): void => {
    zoneChoice.set(zone);
    change.mutate({ zone }, ERROR_AS_TOAST);
  };
  // Number formatters are created once per page, so a change needs a reload.
  const chooseFormat = (format: NumberFormat): void => {
    numberFormatChoice.set(format);
    change.mutate({ numberFormat: format }, { ...ERROR_AS_TOAST, onSuccess: () => location.reload() });
  };
  return (
    <Card title={t.zone.title}>
      <div className="flex flex-col gap-4">
        <Field label={t.zone.zone} hint={t.zone.hint}>
          {(wiring) => <Select {...wiring} value={shown} choices={zoneChoices(shown)} onChoose={choose} />}
        </Field>
        <Field label={t.zone.numbers}>
          {(wiring) => <Select {...wiring} value={numberFormat} choices={FORMATS} onChoose={chooseFormat} />}
        </Field>
      </div>
    </Card>
  );
}
