import type { ComponentProps, JSX } from 'react';
import { cx } from './cx.ts';

type MoneyInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'type'> & {
  /** A decimal amount of dollars as typed, such as `12.50`; empty means that none was given. */
  readonly value: string;
  readonly onText: (text: string) => void;
};

/** An amount of US dollars, kept as decimal text: it never becomes a floating-point number. */
export function MoneyInput({ className, onText, ...rest }: MoneyInputProps): JSX.Element {
  return (
    <span className="relative block">
      <span aria-hidden="true" className="figures pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-sm text-muted">
        $
      </span>
      <input
        inputMode="decimal"
        autoComplete="off"
        placeholder="0.00"
        {...rest}
        onChange={(event) => onText(readAmount(event.target.value))}
        className={cx('control figures pl-6', className)}
      />
    </span>
  );
}

/** Keeps digits and the first point. A comma counts as a point only where it cannot be a separator of thousands. */
function readAmount(text: string): string {
  const plain = text.includes('.') || /,\d{3}$/u.test(text) ? text.replaceAll(',', '') : text.replace(',', '.');
  const [whole = '', ...fraction] = plain.replaceAll(/[^\d.]/gu, '').split('.');
  return fraction.length === 0 ? whole : `${whole}.${fraction.join('')}`;
}
