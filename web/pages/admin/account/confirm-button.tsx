import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { queryClient } from '../../../queries.ts';
import { Button } from '../../../ui/button.tsx';
import type { ButtonLook } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { toast } from '../../../ui/toast.tsx';

interface ConfirmButtonProps {
  readonly words: { readonly action: string; readonly text: string; readonly done: string };
  readonly title: string;
  /** What must be typed first. */
  readonly name?: string | undefined;
  readonly size?: ButtonLook['size'];
  readonly onConfirm: () => Promise<unknown>;
}

/** A button that asks once more before it does something to an account. */
export function ConfirmButton({ words, title, name, size = 'md', onConfirm }: ConfirmButtonProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: onConfirm,
    onSuccess: async () => {
      toast('good', words.done);
      setAsking(false);
      await queryClient.invalidateQueries({ queryKey: ['admin'] });
    },
  });
  const close = (): void => {
    reset();
    setAsking(false);
  };
  return (
    <>
      <Button size={size} onClick={() => setAsking(true)}>
        {words.action}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={close}
        title={title}
        text={words.text}
        action={words.action}
        {...(name !== undefined && { name })}
        isBusy={isPending}
        error={error?.message}
        onConfirm={() => mutate()}
      />
    </>
  );
}
