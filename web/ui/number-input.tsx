import type { ComponentProps, JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

type NumberInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'type'> & {
  /** The text as typed, digits only; empty means that no number was given. */
  readonly value: string;
  readonly onText: (text: string) => void;
  /** A unit behind the number, such as `per minute`. */
  readonly unit?: ReactNode;
};

/** A whole number, kept as the text that was typed: a half-typed number is never changed under the typist. */
export function NumberInput({ className, onText, unit, ...rest }: NumberInputProps): JSX.Element {
  const input = (
    <input
      inputMode="numeric"
      autoComplete="off"
      {...rest}
      onChange={(event) => onText(event.target.value.replaceAll(/\D/gu, ''))}
      className={cx('control figures', className)}
    />
  );
  if (unit === undefined) return input;
  return (
    <span className="flex items-center gap-2">
      {input}
      <span className="shrink-0 text-xs text-muted">{unit}</span>
    </span>
  );
}
