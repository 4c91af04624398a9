import { useState } from 'react';
import type { JSX } from 'react';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface ConfirmButtonProps {
  /** The action, on the button and in the dialog. */
  readonly label: string;
  readonly title: string;
  readonly text: string;
  /** Performs the action and returns the message to show. */
  readonly onConfirm: () => Promise<string>;
}

/** A button for an irreversible action: asks for confirmation, then reports success or the error. */
export function ConfirmButton({ label, ...question }: ConfirmButtonProps): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <Button size="sm" variant="danger" onClick={() => setConfirming(true)}>
        {label}
      </Button>
      <ConfirmDialog isOpen={isConfirming} onClose={() => setConfirming(false)} action={label} {...question} />
    </>
  );
}
