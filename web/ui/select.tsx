import { ChevronDown } from 'lucide-react';
import type { ComponentProps, JSX } from 'react';
import { cx } from './cx.ts';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

type SelectProps<Value extends string> = Omit<ComponentProps<'select'>, 'onChange' | 'value' | 'children'> & {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
};

/** The browser's native select, which works well on phones, with keyboards and with screen readers. */
export function Select<Value extends string>({ value, choices, onChoose, className, ...rest }: SelectProps<Value>): JSX.Element {
  const choose = (text: string): void => {
    const chosen = choices.find((choice) => choice.value === text);
    if (chosen !== undefined) onChoose(chosen.value);
  };
  return (
    <span className={cx('relative inline-block min-w-0', className)}>
      <select {...rest} value={value} onChange={(event) => choose(event.target.value)} className="control appearance-none truncate pr-8">
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <ChevronDown aria-hidden="true" className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-muted" />
    </span>
  );
}
