import { useEffect, useRef, useState } from 'react';
import type { ComponentProps, JSX } from 'react';
import { formatUsdExact, readAmount, writeAmount } from '../money.ts';
import { form as t } from '../strings/index.ts';
import { cx } from './cx.ts';

type MoneyInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'onBlur' | 'value' | 'type'> & {
  readonly id: string;
  /** A decimal amount of dollars, such as `12.50`; empty means that none was given, or none that can be read. */
  readonly value: string;
  readonly onText: (text: string) => void;
};

/** An amount of US dollars, kept as decimal text: it never becomes a floating-point number. A form is not sent with one that cannot be read. */
export function MoneyInput({ id, className, value, onText, ...rest }: MoneyInputProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(() => writeAmount(value));
  const [isLeft, setLeft] = useState(false);
  // What was typed stays as it is, until somebody else sets another amount.
  const shown = (readAmount(typed) ?? '') === value ? typed : writeAmount(value);
  const isReadable = readAmount(shown) !== undefined;
  const isWrong = isLeft && !isReadable;
  useEffect(() => {
    const form = input.current?.form ?? undefined;
    if (isReadable || form === undefined) return;
    const stop = (event: Event): void => {
      if (!event.defaultPrevented) input.current?.focus();
      event.preventDefault();
      event.stopPropagation();
      setLeft(true);
    };
    form.addEventListener('submit', stop, { capture: true });
    return () => form.removeEventListener('submit', stop, { capture: true });
  }, [isReadable]);
  return (
    <>
      <span className="relative block">
        <span aria-hidden="true" className="figures pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-sm text-muted">
          $
        </span>
        <input
          ref={input}
          id={id}
          inputMode="decimal"
          autoComplete="off"
          placeholder={writeAmount('0.00')}
          {...rest}
          {...(isWrong && { 'aria-invalid': true, 'aria-describedby': `${id}-unread` })}
          value={shown}
          onBlur={() => setLeft(true)}
          onChange={({ target }) => {
            setLeft(false);
            setTyped(target.value);
            onText(readAmount(target.value) ?? '');
          }}
          className={cx('control figures pl-6', className)}
        />
      </span>
      {isWrong && (
        <p id={`${id}-unread`} role="alert" className="text-xs font-medium text-bad">
          {t.noAmount(formatUsdExact('1234.5'))}
        </p>
      )}
    </>
  );
}
