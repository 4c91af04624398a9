import { useState } from 'react';
import type { ComponentProps, JSX, ReactNode } from 'react';
import { digitsOf } from '../numbers.ts';
import { cx } from './cx.ts';

type NumberInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'type'> & {
  /** The typed digits; empty if there is no number. */
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Unit after the number, such as `per minute`. */
  readonly unit?: ReactNode;
};

/** Input for a whole number. It never changes a half-typed number, nor text that an input method is still composing. */
export function NumberInput({ className, value, onText, unit, ...rest }: NumberInputProps): JSX.Element {
  const [composed, setComposed] = useState<string>();
  const report = (text: string): void => {
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
      onCompositionEnd={({ currentTarget }) => report(currentTarget.value)}
      onChange={({ target }) => (composed === undefined ? report(target.value) : setComposed(target.value))}
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
