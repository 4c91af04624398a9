import { useEffect, useRef, useState } from 'react';
import type { ComponentProps, JSX } from 'react';
import { formatUsdExact, readAmount, writeAmount } from '../money.ts';
import { form as t } from '../strings/index.ts';
import { cx } from './cx.ts';

type MoneyInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'onBlur' | 'value' | 'type'> & {
  readonly id: string;
  /** A decimal amount of dollars, such as `12.50`; empty if there is none or it cannot be parsed. */
  readonly value: string;
  readonly onText: (text: string) => void;
};

/** Input for US dollars. The amount stays decimal text, never a floating-point number. A form with an invalid amount is not submitted. */
export function MoneyInput({ id, className, value, onText, ...rest }: MoneyInputProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(() => writeAmount(value));
  const [isTouched, setTouched] = useState(false);
  // Keep the text as typed, unless the value was changed from outside.
  const shown = (readAmount(typed) ?? '') === value ? typed : writeAmount(value);
  const isValid = readAmount(shown) !== undefined;
  const showsError = isTouched && !isValid;
  useEffect(() => {
    const form = input.current?.form ?? undefined;
    if (isValid || form === undefined) return;
    const stop = (event: Event): void => {
      if (!event.defaultPrevented) input.current?.focus();
      event.preventDefault();
      event.stopPropagation();
      setTouched(true);
    };
    form.addEventListener('submit', stop, { capture: true });
    return () => form.removeEventListener('submit', stop, { capture: true });
  }, [isValid]);
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
          {...(showsError && { 'aria-invalid': true, 'aria-describedby': `${id}-unread` })}
          value={shown}
          onBlur={() => setTouched(true)}
          onChange={({ target }) => {
            setTouched(false);
            setTyped(target.value);
            onText(readAmount(target.value) ?? '');
          }}
          className={cx('control figures pl-6', className)}
        />
      </span>
      {showsError && (
        <p id={`${id}-unread`} role="alert" className="text-xs font-medium text-bad">
          {t.noAmount(formatUsdExact('1234.5'))}
        </p>
      )}
    </>
  );
}
