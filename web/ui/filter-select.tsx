import type { JSX } from 'react';
import { cx } from './cx.ts';
import { Select, type Choice } from './select.tsx';

interface FilterSelectProps<Value extends string> {
  readonly label: string;
  /** Label of the unfiltered choice, such as "All models". */
  readonly all: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value | undefined;
  /** Called with undefined to remove the filter. */
  readonly onChoose: (value: Value | undefined) => void;
}

/** A filter as a select, "all" first. The current value is always among the choices, even if it is unknown. */
export function FilterSelect<Value extends string>({ label, all, choices, value, onChoose }: FilterSelectProps<Value>): JSX.Element {
  const isUnknown = value !== undefined && !choices.some((choice) => choice.value === value);
  return (
    <Select<Value | ''>
      aria-label={label}
      value={value ?? ''}
      choices={[{ value: '', label: all }, ...choices, ...(isUnknown ? [{ value, label: value }] : [])]}
      onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
      // Its width must not change when its choices arrive.
      className={cx('w-[calc(50%-0.25rem)]', value === undefined ? 'sm:w-36' : 'sm:w-auto sm:max-w-56')}
    />
  );
}

/** Turns values into choices labelled with themselves. */
export function plainChoices(values: readonly string[]): Choice<string>[] {
  return values.map((value) => ({ value, label: value }));
}

/** Turns values into choices with the given labels. */
export function labelled<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>): Choice<Value>[] {
  return values.map((value) => ({ value, label: labels[value] }));
}
