import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { toast } from './toast.tsx';

interface ConfirmButtonProps {
  /** What it does, on the button and in the question. */
  readonly label: string;
  readonly title: string;
  readonly text: string;
  /** Does it, and gives what is said about it. */
  readonly onConfirm: () => Promise<string>;
}

/** A button for what cannot be taken back: it asks once more, tells that it is done, or why not. */
export function ConfirmButton({ label, title, text, onConfirm }: ConfirmButtonProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: onConfirm,
    onSuccess: (said) => {
      setAsking(false);
      toast('good', said);
    },
  });
  return (
    <>
      <Button size="sm" variant="danger" onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={title}
        text={text}
        action={label}
        isBusy={isPending}
        error={error?.message}
        onConfirm={() => mutate()}
      />
    </>
  );
}
