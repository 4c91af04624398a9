import type { ComponentProps, JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'onChange' | 'checked'> & {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isLabelHidden?: boolean;
  readonly isChecked: boolean;
  /** Some but not all of the items it stands for are checked. */
  readonly isMixed?: boolean;
  readonly onCheck: (isChecked: boolean) => void;
};

/** A checkbox with its label. */
export function Checkbox({
  label,
  hint,
  isLabelHidden,
  isChecked,
  isMixed = false,
  onCheck,
  className,
  ...rest
}: CheckboxProps): JSX.Element {
  return (
    <label className={cx(isLabelHidden === true ? 'flex' : 'inline-flex items-start gap-2.5 text-sm', className)}>
      <input
        type="checkbox"
        {...rest}
        ref={(input) => {
          if (input !== null) input.indeterminate = isMixed;
        }}
        checked={isChecked}
        onChange={(event) => onCheck(event.target.checked)}
        className={cx('size-4 shrink-0', isLabelHidden !== true && 'mt-0.5')}
      />
      <span className={isLabelHidden === true ? 'sr-only' : 'min-w-0 wrap-anywhere'}>
        {label}
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </span>
    </label>
  );
}
