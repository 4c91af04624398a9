import { useState } from 'react';
import type { ComponentProps, JSX, ReactNode } from 'react';
import { digitsOf } from '../numbers.ts';
import { cx } from './cx.ts';

type NumberInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'type'> & {
  /** The text as typed, digits only; empty means that no number was given. */
  readonly value: string;
  readonly onText: (text: string) => void;
  /** A unit behind the number, such as `per minute`. */
  readonly unit?: ReactNode;
};

/** A whole number, kept as the text that was typed: a half-typed number is never changed under the typist, nor what a keyboard still composes. */
export function NumberInput({ className, value, onText, unit, ...rest }: NumberInputProps): JSX.Element {
  const [composed, setComposed] = useState<string>();
  const take = (text: string): void => {
    setComposed(undefined);
    onText(digitsOf(text));
  };
  const input = (
    <input
      inputMode="numeric"
      autoComplete="off"
      {...rest}
      value={composed ?? value}
      onCompositionStart={({ currentTarget }) => setComposed(currentTarget.value)}
      onCompositionEnd={({ currentTarget }) => take(currentTarget.value)}
      onChange={({ target }) => (composed === undefined ? take(target.value) : setComposed(target.value))}
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
