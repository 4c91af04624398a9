import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { TextInput } from './text-input.tsx';
import { toast } from './toast.tsx';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly text: ReactNode;
  /** Label of the button, as a verb: `Delete key`. */
  readonly action: string;
  /** Label of the button that changes nothing, if "Cancel" could be taken for the action. */
  readonly keep?: string;
  /** A name that must be typed first, for irreversible actions. */
  readonly name?: string;
  /** False while another field still needs input. */
  readonly isReady?: boolean;
  /** Performs the action and returns the message to show, if any. A failure is shown in the dialog. */
  readonly onConfirm: () => Promise<string | undefined>;
  /** Further fields. */
  readonly children?: ReactNode;
}

/** Asks for confirmation of an irreversible action and reports the result. Nothing of it is left when it is opened again. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  text,
  action,
  keep = t.cancel,
  name,
  isReady = true,
  onConfirm,
  children,
}: ConfirmDialogProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const isNameTyped = name === undefined || asDisplayed(typed) === asDisplayed(name);
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: onConfirm,
    onSuccess: (message) => {
      close();
      if (message !== undefined) toast('good', message);
    },
  });
  const close = (): void => {
    setTyped('');
    reset();
    onClose();
  };
  const actions = (
    <>
      <Button variant="quiet" disabled={isPending} onClick={close}>
        {keep}
      </Button>
      <Button variant="danger" disabled={!isNameTyped || !isReady} isBusy={isPending} onClick={() => mutate()}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={close} isBusy={isPending} title={title} text={text} actions={actions} error={error?.message}>
      {name !== undefined && (
        <Field label={t.typeToConfirm(name)}>
          {(wiring) => <TextInput {...wiring} value={typed} onText={setTyped} autoComplete="off" spellCheck={false} />}
        </Field>
      )}
      {children}
    </Dialog>
  );
}

/**
 * Normalises a name to what a page shows of it: repeated spaces look like one, composed and decomposed letters look alike, and format
 * characters are invisible. Text typed from the page has none of these differences.
 */
function asDisplayed(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
