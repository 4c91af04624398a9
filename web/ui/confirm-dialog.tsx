import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { TextInput } from './text-input.tsx';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly text: ReactNode;
  /** What the button does, as a verb: `Delete key`. */
  readonly action: string;
  /** A name that must be typed first, for what cannot be taken back. */
  readonly name?: string;
  /** False while something else is to be filled in. */
  readonly isReady?: boolean;
  readonly isBusy?: boolean;
  readonly error?: string | undefined;
  readonly onConfirm: () => void;
  /** What else is asked. */
  readonly children?: ReactNode;
}

/** Asks once more before something that cannot be taken back. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  text,
  action,
  name,
  isReady = true,
  isBusy = false,
  error,
  onConfirm,
  children,
}: ConfirmDialogProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const isSure = name === undefined || asRead(typed) === asRead(name);
  const close = (): void => {
    setTyped('');
    onClose();
  };
  const actions = (
    <>
      <Button variant="quiet" onClick={close}>
        {t.cancel}
      </Button>
      <Button variant="danger" disabled={!isSure || !isReady} isBusy={isBusy} onClick={onConfirm}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title} text={text} actions={actions} error={error}>
      {name !== undefined && (
        <Field label={t.typeToConfirm(name)}>
          {(wiring) => <TextInput {...wiring} value={typed} onText={setTyped} autoComplete="off" spellCheck={false} />}
        </Field>
      )}
      {children}
    </Dialog>
  );
}

/** A page shows several spaces as one, marks of letters however they are stored, and some signs not at all: what is typed from it has none of these. */
function asRead(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
