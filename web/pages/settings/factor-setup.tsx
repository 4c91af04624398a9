import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { JSX } from 'react';
import { digitsOf } from '../../numbers.ts';
import { callAuth } from '../../auth.ts';
import { queryClient } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { profileQuery } from './queries.ts';

const t = settings.factor;

/** Marks the requests of the steps, during which their dialog stays open. */
export const FACTOR_CHANGE = ['two-factor'] as const;

interface FactorSetupProps {
  readonly setup: { readonly uri: string; readonly svg: string; readonly recoveryCodes: readonly string[] };
  readonly onDone: () => void;
}

/** Setup of two-factor authentication: the secret for the app, the recovery codes, and a first code to verify it. */
export function FactorSetup({ setup: { uri, svg, recoveryCodes }, onDone }: FactorSetupProps): JSX.Element {
  const [isStored, setIsStored] = useState(false);
  const [code, setCode] = useState('');
  const verify = useMutation({
    mutationKey: FACTOR_CHANGE,
    mutationFn: () => callAuth('POST', '/two-factor/verify-totp', { code: digitsOf(code) }),
    onSuccess: async () => {
      toast('good', t.done);
      await queryClient.invalidateQueries({ queryKey: profileQuery.queryKey });
      onDone();
    },
  });
  return (
    <div className="flex flex-col gap-4 text-sm">
      <p>{t.scan}</p>
      <img alt={t.qr} src={`data:image/svg+xml,${encodeURIComponent(svg)}`} width={200} height={200} className="self-center rounded-md" />
      <Copyable text={new URL(uri).searchParams.get('secret') ?? ''} what={t.key} isWhole />
      <p>{t.recovery}</p>
      <RecoveryCodes codes={recoveryCodes} />
      <Checkbox label={t.kept} isChecked={isStored} onCheck={setIsStored} />
      <Form
        action={t.verify}
        isBusy={verify.isPending}
        isDisabled={!isStored || digitsOf(code) === ''}
        error={verify.error}
        onCancel={onDone}
        onSubmit={() => verify.mutate()}
      >
        <Field label={t.code}>
          {(wiring) => <TextInput {...wiring} inputMode="numeric" autoComplete="one-time-code" value={code} onText={setCode} />}
        </Field>
      </Form>
    </div>
  );
}

/** Recovery codes for a lost app, with one button to copy all of them. */
export function RecoveryCodes({ codes }: { readonly codes: readonly string[] }): JSX.Element {
  const source = useRef<HTMLPreElement>(null);
  return (
    <div className="flex items-start gap-2 rounded-md bg-sunken p-3">
      <pre ref={source} data-testid="recovery-codes" className="min-w-0 flex-1 columns-2 font-mono text-xs whitespace-pre-wrap">
        {codes.join('\n')}
      </pre>
      <CopyButton text={codes.join('\n')} what={t.copied} source={source} />
    </div>
  );
}
