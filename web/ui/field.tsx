import { createContext, use, useId } from 'react';
import type { JSX, ReactNode } from 'react';
import { form } from '../strings/index.ts';
import { cx } from './cx.ts';

/** True where the form itself reads out its error and focuses the field, so that the field need not repeat it. */
export const IsErrorRead = createContext(false);

/** Props that connect a control to its label, hint and error for screen readers. */
export interface ControlWiring {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
  /** Shows the label to screen readers only, if the context makes it clear. */
  readonly isLabelHidden?: boolean;
  readonly className?: string;
  readonly children: (wiring: ControlWiring) => ReactNode;
}

/** A control with label, hint and error: `<Field label="Name">{(wiring) => <TextInput {...wiring} />}</Field>`. */
export function Field({ label, hint, error, isOptional, isLabelHidden, className, children }: FieldProps): JSX.Element {
  const id = useId();
  const isErrorRead = use(IsErrorRead);
  const describedBy = cx(hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`);
  const wiring: ControlWiring = {
    id,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
    'aria-invalid': error === undefined ? undefined : true,
  };
  return (
    <div className={cx('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className={isLabelHidden === true ? 'sr-only' : 'text-sm font-medium wrap-anywhere'}>
        {label}
        {isOptional === true && <span className="font-normal text-muted"> {form.optional}</span>}
      </label>
      {children(wiring)}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role={isErrorRead ? undefined : 'alert'} className="text-xs font-medium text-bad">
          {error}
        </p>
      )}
    </div>
  );
}
