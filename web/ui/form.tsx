import type { JSX, ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { form as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';

interface FormProps {
  readonly action: string;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  /** What failed the last time; what names a field is shown there instead. */
  readonly error?: unknown;
  readonly fields?: readonly string[];
  /** On pages that are nothing but a form the button is as wide as the fields. */
  readonly isWide?: boolean;
  /** What is sent takes something away for good. */
  readonly isDanger?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** Fields and the one button that sends them; Enter does the same. */
export function Form({
  action,
  isBusy,
  isDisabled = false,
  error,
  fields = [],
  isWide = false,
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
      <Button
        type="submit"
        variant={isDanger ? 'danger' : 'primary'}
        isBusy={isBusy}
        disabled={isDisabled}
        className={cx(!isWide && 'self-start')}
      >
        {action}
      </Button>
    </form>
  );
}

/** The text of a refusal that blames this field. */
export function fieldError(error: unknown, field: string): string | undefined {
  return error instanceof ApiError && error.field === field ? error.message : undefined;
}
