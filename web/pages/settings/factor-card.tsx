import { useIsMutating, useMutation, useQuery } from '@tanstack/react-query';
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
import { FACTOR_CHANGE, FactorSetup, RecoveryCodes } from './factor-setup.tsx';
import { linkedAccountsQuery, profileQuery } from './queries.ts';

const t = settings.factor;
type Step = 'begin' | 'end' | 'renew';

/** Two-factor authentication: turning it on or off requires the password. */
export function FactorCard(): JSX.Element {
  const { data: profile, error, refetch } = useQuery(profileQuery);
  const { data: signInMethods } = useQuery(linkedAccountsQuery);
  const hasPassword = signInMethods?.hasPassword !== false;
  const [step, setStep] = useState<Step>();
  const isBusy = useIsMutating({ mutationKey: FACTOR_CHANGE }) > 0;
  const isOn = profile?.hasTwoFactor === true;
  const close = (): void => setStep(undefined);
  return (
    <Card
      title={t.title}
      actions={
        isOn ? (
          <>
            <Button size="sm" onClick={() => setStep('renew')}>
              {t.renew}
            </Button>
            <Button size="sm" variant="danger" onClick={() => setStep('end')}>
              {t.end}
            </Button>
          </>
        ) : (
          <Button size="sm" variant="primary" disabled={profile === undefined || !hasPassword} onClick={() => setStep('begin')}>
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
      <Dialog isOpen={step !== undefined} onClose={close} isBusy={isBusy} title={step === 'renew' ? t.renew : t.title}>
        {step === 'begin' && <Begin onDone={close} />}
        {step === 'end' && <End onDone={close} />}
        {step === 'renew' && <Renew onDone={close} />}
      </Dialog>
    </Card>
  );
}

interface StepProps {
  readonly onDone: () => void;
}

function Begin({ onDone }: StepProps): JSX.Element {
  const begin = useMutation({
    mutationKey: FACTOR_CHANGE,
    mutationFn: (password: string) => call(api.settings['two-factor'].$post({ json: { password } })),
  });
  if (begin.data === undefined) return <AskPassword mutation={begin} action={t.begin} onCancel={onDone} />;
  return <FactorSetup setup={begin.data} onDone={onDone} />;
}

function End({ onDone }: StepProps): JSX.Element {
  const end = useMutation({
    mutationKey: FACTOR_CHANGE,
    mutationFn: (password: string) => callAuth('POST', '/two-factor/disable', { password }),
    onSuccess: async () => {
      toast('good', t.ended);
      await queryClient.invalidateQueries({ queryKey: profileQuery.queryKey });
      onDone();
    },
  });
  return <AskPassword mutation={end} action={t.end} onCancel={onDone} />;
}

function Renew({ onDone }: StepProps): JSX.Element {
  const renew = useMutation({
    mutationKey: FACTOR_CHANGE,
    mutationFn: (password: string) =>
      callAuth<{ readonly backupCodes: readonly string[] }>('POST', '/two-factor/generate-backup-codes', { password }),
  });
  if (renew.data === undefined) return <AskPassword mutation={renew} action={t.renew} onCancel={onDone} />;
  return (
    <>
      <RecoveryCodes codes={renew.data.backupCodes} />
      <Button className="mt-4" onClick={onDone}>
        {t.close}
      </Button>
    </>
  );
}

interface PasswordMutation {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly mutate: (password: string) => void;
}

interface AskPasswordProps {
  readonly mutation: PasswordMutation;
  readonly action: string;
  readonly onCancel: () => void;
}

function AskPassword({ mutation, action, onCancel }: AskPasswordProps): JSX.Element {
  const [password, setPassword] = useState('');
  return (
    <Form
      action={action}
      isBusy={mutation.isPending}
      isDisabled={password === ''}
      error={mutation.error}
      fields={['password']}
      onCancel={onCancel}
      onSubmit={() => mutation.mutate(password)}
    >
      <Field label={t.password} error={fieldError(mutation.error, 'password')}>
        {(wiring) => <PasswordInput {...wiring} value={password} onText={setPassword} />}
      </Field>
    </Form>
  );
}
