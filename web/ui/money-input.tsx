import { useRef, useState } from 'react';
import type { ComponentProps, JSX } from 'react';
import { formatUsdExact, readAmount, signOf, sumUsd, writeAmount } from '../money.ts';
import { form as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { InputProblem, useProblem } from './input-problem.tsx';

type MoneyInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'onBlur' | 'value' | 'type'> & {
  readonly id: string;
  /** A decimal amount of dollars, such as `12.50`; empty if there is none or it cannot be parsed. */
  readonly value: string;
  readonly onText: (text: string) => void;
  /** The least and the most, as decimal amounts. */
  readonly range?: AmountRange;
};

type AmountRange = readonly [least: string, most: string];

/** Input for US dollars. The amount stays decimal text, never a floating-point number. A form with an invalid amount is not submitted. */
export function MoneyInput({ id, className, value, onText, range, ...rest }: MoneyInputProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(() => writeAmount(value));
  // Keep the text as typed, unless the value was changed from outside.
  const shown = (readAmount(typed) ?? '') === value ? typed : writeAmount(value);
  const amount = readAmount(shown);
  const { shown: problem, setLeft } = useProblem(
    input,
    amount === undefined ? t.noAmount(formatUsdExact('1234.5')) : rangeProblem(amount, range),
  );
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
          {...(problem !== undefined && { 'aria-invalid': true, 'aria-describedby': `${id}-problem` })}
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
      <InputProblem id={`${id}-problem`} text={problem} />
    </>
  );
}

function rangeProblem(amount: string, range: AmountRange | undefined): string | undefined {
  if (amount === '' || range === undefined) return undefined;
  const [least, most] = range;
  const isWithin = signOf(sumUsd([amount, `-${least}`])) >= 0 && signOf(sumUsd([most, `-${amount}`])) >= 0;
  return isWithin ? undefined : t.amountRange(formatUsdExact(least), formatUsdExact(most));
}
