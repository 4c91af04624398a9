import type { JSX } from 'react';
import { Select, type Choice } from './select.tsx';

interface FilterSelectProps<Value extends string> {
  readonly label: string;
  /** What is shown when nothing is filtered, such as "All models". */
  readonly all: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value | undefined;
  /** Undefined takes the filter away. */
  readonly onChoose: (value: Value | undefined) => void;
}

/** A filter as a list of choices, everything first. What the address asks for is there even if nobody used it. */
export function FilterSelect<Value extends string>({ label, all, choices, value, onChoose }: FilterSelectProps<Value>): JSX.Element {
  const isUnknown = value !== undefined && !choices.some((choice) => choice.value === value);
  return (
    <Select<Value | ''>
      aria-label={label}
      value={value ?? ''}
      choices={[{ value: '', label: all }, ...choices, ...(isUnknown ? [{ value, label: value }] : [])]}
      onChoose={(chosen) => onChoose(chosen === '' ? undefined : chosen)}
      className="w-[calc(50%-0.25rem)] sm:w-auto sm:max-w-56"
    />
  );
}

/** Choices that are called what they are. */
export function plainChoices(values: readonly string[]): Choice<string>[] {
  return values.map((value) => ({ value, label: value }));
}

/** Choices with a label for each. */
export function labelled<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>): Choice<Value>[] {
  return values.map((value) => ({ value, label: labels[value] }));
}
