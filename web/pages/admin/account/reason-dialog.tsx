import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { queryClient } from '../../../queries.ts';
import { adminAccount as t } from '../../../strings/index.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { TextInput } from '../../../ui/text-input.tsx';
import { toast } from '../../../ui/toast.tsx';

interface ReasonDialogProps {
  readonly title: string;
  readonly text: ReactNode;
  /** What the button does, as a verb. */
  readonly action: string;
  readonly done: string;
  readonly onClose: () => void;
  readonly onConfirm: (reason: string) => Promise<unknown>;
}

/** Asks why, before something that the owner of the account feels at once. */
export function ReasonDialog({ title, text, action, done, onClose, onConfirm }: ReasonDialogProps): JSX.Element {
  const [reason, setReason] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => onConfirm(reason),
    onSuccess: async () => {
      toast('good', done);
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['admin'] });
    },
  });
  return (
    <Dialog isOpen onClose={onClose} title={title} text={text}>
      <Form action={action} isBusy={isPending} isDisabled={reason.trim() === ''} error={error} onSubmit={() => mutate()}>
        <Field label={t.reason} hint={t.reasonHint}>
          {(wiring) => <TextInput {...wiring} value={reason} onText={setReason} autoComplete="off" maxLength={500} />}
        </Field>
      </Form>
    </Dialog>
  );
}
