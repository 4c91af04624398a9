import { useState } from 'react';
import type { JSX } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface ConfirmButtonProps extends ButtonLook {
  /** The action, on the button and in the dialog. */
  readonly label: string;
  /** Says which item of a list it acts on, for screen readers. */
  readonly fullLabel?: string;
  readonly title: string;
  readonly text: string;
  /** Performs the action and returns the message to show, if any. */
  readonly onConfirm: () => Promise<string | undefined>;
}

/** A button for an irreversible action: asks for confirmation, then reports success or the error. */
export function ConfirmButton({ label, fullLabel, size = 'sm', variant = 'danger', ...question }: ConfirmButtonProps): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <Button size={size} variant={variant} isChange aria-label={fullLabel} onClick={() => setConfirming(true)}>
        {label}
      </Button>
      <ConfirmDialog isOpen={isConfirming} onClose={() => setConfirming(false)} action={label} {...question} />
    </>
  );
}
