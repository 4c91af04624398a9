import type { JSX } from 'react';
import { Field } from './field.tsx';
import { MoneyInput } from './money-input.tsx';
import { NumberInput } from './number-input.tsx';
import { TextInput } from './text-input.tsx';

interface InputLineProps {
  readonly label: string;
  readonly as: 'text' | 'count' | 'usd' | 'day';
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly hint?: string | undefined;
  readonly unit?: string | undefined;
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
  readonly isDisabled?: boolean;
}

/** A labelled input for a text, a whole number, an amount or a day. Its value is always a text. */
export function InputLine({
  label,
  as,
  value,
  onText,
  hint,
  unit,
  error,
  isOptional = false,
  isDisabled = false,
}: InputLineProps): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error} isOptional={isOptional}>
      {(wiring) => {
        const control = { ...wiring, value, onText, disabled: isDisabled };
        if (as === 'usd') return <MoneyInput {...control} />;
        if (as === 'count') return <NumberInput {...control} unit={unit} />;
        return <TextInput {...control} type={as === 'day' ? 'date' : 'text'} autoComplete="off" />;
      }}
    </Field>
  );
}
