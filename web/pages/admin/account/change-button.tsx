import { useState } from 'react';
import type { JSX } from 'react';
import { queryClient } from '../../../queries.ts';
import { adminAccount as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import type { ButtonLook } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { TextInput } from '../../../ui/text-input.tsx';

interface ChangeButtonProps extends ButtonLook {
  readonly words: { readonly action: string; readonly title: (email: string) => string; readonly text: string; readonly done: string };
  readonly email: string;
  /** Requires typing the email address first. */
  readonly requiresEmail?: boolean;
  /** Requires a reason. */
  readonly requiresReason?: boolean;
  readonly onConfirm: (reason: string) => Promise<unknown>;
}

/** A button that changes an account after confirmation. */
export function ChangeButton({ words, email, requiresEmail, requiresReason, onConfirm, ...look }: ChangeButtonProps): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  const [reason, setReason] = useState('');
  const change = async (): Promise<string> => {
    await onConfirm(reason);
    await queryClient.invalidateQueries({ queryKey: ['admin'] });
    return words.done;
  };
  const close = (): void => {
    setReason('');
    setConfirming(false);
  };
  return (
    <>
      <Button {...look} onClick={() => setConfirming(true)}>
        {words.action}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={close}
        title={words.title(email)}
        text={words.text}
        action={words.action}
        {...(requiresEmail === true && { name: email })}
        isReady={requiresReason !== true || reason.trim() !== ''}
        onConfirm={change}
      >
        {requiresReason === true && (
          <Field label={t.reason} hint={t.reasonHint}>
            {(wiring) => <TextInput {...wiring} value={reason} onText={setReason} autoComplete="off" maxLength={500} />}
          </Field>
        )}
      </ConfirmDialog>
    </>
  );
}
