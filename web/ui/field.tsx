import { useId } from 'react';
import type { JSX, ReactNode } from 'react';
import { form } from '../strings/index.ts';
import { cx } from './cx.ts';

/** What a field hands to its control, so that label, hint and error are read out with it. */
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
  /** Only screen readers see the label, where the place says what it is. */
  readonly isLabelHidden?: boolean;
  readonly className?: string;
  readonly children: (wiring: ControlWiring) => ReactNode;
}

/** A label, a control, a hint and an error: `<Field label="Name">{(wiring) => <TextInput {...wiring} />}</Field>`. */
export function Field({ label, hint, error, isOptional, isLabelHidden, className, children }: FieldProps): JSX.Element {
  const id = useId();
  const describedBy = cx(hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`);
  const wiring: ControlWiring = {
    id,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
    'aria-invalid': error === undefined ? undefined : true,
  };
  return (
    <div className={cx('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className={isLabelHidden === true ? 'sr-only' : 'text-sm font-medium'}>
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
        <p id={`${id}-error`} role="alert" className="text-xs font-medium text-bad">
          {error}
        </p>
      )}
    </div>
  );
}
