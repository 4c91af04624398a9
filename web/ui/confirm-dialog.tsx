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
  /** Label of the button, as a verb: `Delete key`. */
  readonly action: string;
  /** A name that must be typed first, for irreversible actions. */
  readonly name?: string;
  /** False while another field still needs input. */
  readonly isReady?: boolean;
  readonly isBusy?: boolean;
  readonly error?: string | undefined;
  readonly onConfirm: () => void;
  /** Further fields. */
  readonly children?: ReactNode;
}

/** Asks for confirmation of an irreversible action. */
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
  const isNameTyped = name === undefined || asDisplayed(typed) === asDisplayed(name);
  const close = (): void => {
    setTyped('');
    onClose();
  };
  const actions = (
    <>
      <Button variant="quiet" onClick={close}>
        {t.cancel}
      </Button>
      <Button variant="danger" disabled={!isNameTyped || !isReady} isBusy={isBusy} onClick={onConfirm}>
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
