import type { JSX, ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { form as t, kit } from '../strings/index.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';

interface FormProps {
  readonly action: string;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  /** Error of the last attempt. An error of one of `fields` is shown at that field instead. */
  readonly error?: unknown;
  readonly fields?: readonly string[];
  /** Makes the button as wide as the fields, for pages that consist of one form. */
  readonly isWide?: boolean;
  /** Ends the form as dialogs end: with a cancel button, and the submit button on the right. Nothing can be cancelled while it is sent. */
  readonly onCancel?: () => void;
  /** Submitting deletes something for good. */
  readonly isDanger?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form with one submit button; Enter submits too. */
export function Form({
  action,
  isBusy,
  isDisabled = false,
  error,
  fields = [],
  isWide = false,
  onCancel,
  isDanger = false,
  onSubmit,
  children,
}: FormProps): JSX.Element {
  const isShown = error !== null && error !== undefined && !fields.some((field) => fieldError(error, field) !== undefined);
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {isShown && (
        <p role="alert" className="text-sm font-medium text-bad">
          {error instanceof Error ? error.message : t.failed}
        </p>
      )}
      <div className={cx('flex flex-wrap gap-2', onCancel && '-mx-5 -mb-4 justify-end border-t border-line px-5 py-3')}>
        {onCancel !== undefined && (
          <Button variant="quiet" disabled={isBusy} onClick={onCancel}>
            {kit.cancel}
          </Button>
        )}
        <Button
          type="submit"
          variant={isDanger ? 'danger' : 'primary'}
          isBusy={isBusy}
          disabled={isDisabled}
          className={cx(isWide && 'w-full')}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}

/** Returns the message of an error that concerns a field. */
export function fieldError(error: unknown, field: string): string | undefined {
  return error instanceof ApiError && error.field === field ? error.fieldMessage : undefined;
}
