import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { callAuth } from '../../auth.ts';
import { queryClient } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { fieldError, Form } from '../../ui/form.tsx';
import { PasswordInput } from '../../ui/password-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { FactorSetup, RecoveryCodes } from './factor-setup.tsx';
import { linkedAccountsQuery, profileQuery } from './queries.ts';

const t = settings.factor;
type Question = 'begin' | 'end' | 'renew';

/** The second factor: on or off, each after the password. */
export function FactorCard(): JSX.Element {
  const { data: profile, error, refetch } = useQuery(profileQuery);
  const { data: ways } = useQuery(linkedAccountsQuery);
  const hasPassword = ways?.hasPassword !== false;
  const [question, setQuestion] = useState<Question>();
  const isOn = profile?.hasTwoFactor === true;
  const close = (): void => setQuestion(undefined);
  return (
    <Card
      title={t.title}
      actions={
        isOn ? (
          <>
            <Button size="sm" onClick={() => setQuestion('renew')}>
              {t.renew}
            </Button>
            <Button size="sm" variant="danger" onClick={() => setQuestion('end')}>
              {t.end}
            </Button>
          </>
        ) : (
          <Button size="sm" variant="primary" disabled={profile === undefined || !hasPassword} onClick={() => setQuestion('begin')}>
            {t.begin}
          </Button>
        )
      }
    >
      {profile === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="w-72 max-w-full" />
      ) : (
        <p className="text-sm">{isOn ? t.on : hasPassword ? t.off : t.noPassword}</p>
      )}
      <Dialog isOpen={question !== undefined} onClose={close} title={question === 'renew' ? t.renew : t.title}>
        {question === 'begin' && <Begin onDone={close} />}
        {question === 'end' && <End onDone={close} />}
        {question === 'renew' && <Renew onDone={close} />}
      </Dialog>
    </Card>
  );
}

interface StepProps {
  readonly onDone: () => void;
}

function Begin({ onDone }: StepProps): JSX.Element {
  const begin = useMutation({ mutationFn: (password: string) => call(api.settings['two-factor'].$post({ json: { password } })) });
  if (begin.data === undefined) return <AskPassword asking={begin} action={t.begin} />;
  return <FactorSetup begun={begin.data} onDone={onDone} />;
}

function End({ onDone }: StepProps): JSX.Element {
  const end = useMutation({
    mutationFn: (password: string) => callAuth('POST', '/two-factor/disable', { password }),
    onSuccess: async () => {
      toast('good', t.ended);
      await queryClient.invalidateQueries({ queryKey: profileQuery.queryKey });
      onDone();
    },
  });
  return <AskPassword asking={end} action={t.end} />;
}

function Renew({ onDone }: StepProps): JSX.Element {
  const renew = useMutation({
    mutationFn: (password: string) =>
      callAuth<{ readonly backupCodes: readonly string[] }>('POST', '/two-factor/generate-backup-codes', { password }),
  });
  if (renew.data === undefined) return <AskPassword asking={renew} action={t.renew} />;
  return (
    <>
      <RecoveryCodes codes={renew.data.backupCodes} />
      <Button className="mt-4" onClick={onDone}>
        {t.close}
      </Button>
    </>
  );
}

interface Asking {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly mutate: (password: string) => void;
}

function AskPassword({ asking, action }: { readonly asking: Asking; readonly action: string }): JSX.Element {
  const [password, setPassword] = useState('');
  return (
    <Form action={action} isBusy={asking.isPending} error={asking.error} fields={['password']} onSubmit={() => asking.mutate(password)}>
      <Field label={t.password} error={fieldError(asking.error, 'password')}>
        {(wiring) => <PasswordInput {...wiring} value={password} onText={setPassword} />}
      </Field>
    </Form>
  );
}
