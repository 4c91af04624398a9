import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { queryClient } from '../../../queries.ts';
import { adminAccount as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import type { ButtonLook } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { TextInput } from '../../../ui/text-input.tsx';
import { toast } from '../../../ui/toast.tsx';

interface ChangeButtonProps extends ButtonLook {
  readonly words: { readonly action: string; readonly title: (email: string) => string; readonly text: string; readonly done: string };
  readonly email: string;
  /** Whether the address must be typed first. */
  readonly asksForAddress?: boolean;
  /** Whether a reason must be given. */
  readonly asksWhy?: boolean;
  readonly onConfirm: (reason: string) => Promise<unknown>;
}

/** A button that asks once more before it does something to an account. */
export function ChangeButton({ words, email, asksForAddress, asksWhy, onConfirm, ...look }: ChangeButtonProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => onConfirm(reason),
    onSuccess: async () => {
      toast('good', words.done);
      close();
      await queryClient.invalidateQueries({ queryKey: ['admin'] });
    },
  });
  const close = (): void => {
    reset();
    setReason('');
    setAsking(false);
  };
  return (
    <>
      <Button {...look} onClick={() => setAsking(true)}>
        {words.action}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={close}
        title={words.title(email)}
        text={words.text}
        action={words.action}
        {...(asksForAddress === true && { name: email })}
        isReady={asksWhy !== true || reason.trim() !== ''}
        isBusy={isPending}
        error={error?.message}
        onConfirm={() => mutate()}
      >
        {asksWhy === true && (
          <Field label={t.reason} hint={t.reasonHint}>
            {(wiring) => <TextInput {...wiring} value={reason} onText={setReason} autoComplete="off" maxLength={500} />}
          </Field>
        )}
      </ConfirmDialog>
    </>
  );
}
