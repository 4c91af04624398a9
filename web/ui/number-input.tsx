import { useRef, useState } from 'react';
import type { ComponentProps, JSX, ReactNode } from 'react';
import { digitsOf, formatCount } from '../numbers.ts';
import { form as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { InputProblem, useProblem } from './input-problem.tsx';

type NumberInputProps = Omit<ComponentProps<'input'>, 'onChange' | 'onBlur' | 'value' | 'type'> & {
  readonly id: string;
  /** The typed digits; empty if there is no number. */
  readonly value: string;
  readonly onText: (text: string) => void;
  /** The least and the most. */
  readonly range?: readonly [least: number, most: number];
  /** Unit after the number, such as `per minute`. */
  readonly unit?: ReactNode;
};

/** Input for a whole number. It never changes a half-typed number, nor text that an input method is still composing. */
export function NumberInput({ id, className, value, onText, range, unit, ...rest }: NumberInputProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [composed, setComposed] = useState<string>();
  const report = (text: string): void => {
    setComposed(undefined);
    setLeft(false);
    onText(digitsOf(text));
  };
  const [least, most] = range ?? [0, Number.POSITIVE_INFINITY];
  const isWithin = value === '' || (Number(value) >= least && Number(value) <= most);
  const { shown: problem, setLeft } = useProblem(field, isWithin ? undefined : t.countRange(formatCount(least), formatCount(most)));
  const input = (
    <input
      ref={field}
      id={id}
      inputMode="numeric"
      autoComplete="off"
      {...rest}
      {...(problem !== undefined && { 'aria-invalid': true, 'aria-describedby': `${id}-problem` })}
      value={composed ?? value}
      onBlur={() => setLeft(true)}
      onCompositionStart={({ currentTarget }) => setComposed(currentTarget.value)}
      onCompositionEnd={({ currentTarget }) => report(currentTarget.value)}
      onChange={({ target }) => (composed === undefined ? report(target.value) : setComposed(target.value))}
      className={cx('control figures', className)}
    />
  );
  return (
    <>
      {unit === undefined ? (
        input
      ) : (
        <span className="flex items-center gap-2">
          {input}
          <span className="shrink-0 text-xs text-muted">{unit}</span>
        </span>
      )}
      <InputProblem id={`${id}-problem`} text={problem} />
    </>
  );
}
