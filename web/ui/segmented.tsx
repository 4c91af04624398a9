import type { JSX } from 'react';
import { ChoiceRow } from './choice-row.tsx';
import { cx } from './cx.ts';
import type { Choice } from './select.tsx';

interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly className?: string;
}

/** A row of buttons, one of them pressed, for tabs or views. Keep the choice in the URL. */
export function Segmented<Value extends string>({ label, value, choices, onChoose, className }: SegmentedProps<Value>): JSX.Element {
  return (
    <ChoiceRow
      label={label}
      chosen={value}
      className={cx('more-beside inline-flex max-w-full rounded-md border border-line p-0.5', className)}
    >
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChoose(choice.value)}
          className="h-7 rounded-[4px] px-2.5 text-sm whitespace-nowrap text-muted hover:text-ink focus-visible:-outline-offset-2 aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-raised"
        >
          {choice.label}
        </button>
      ))}
    </ChoiceRow>
  );
}
