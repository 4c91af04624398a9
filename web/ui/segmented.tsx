import { useLayoutEffect, useRef } from 'react';
import type { JSX } from 'react';
import { cx } from './cx.ts';
import type { Choice } from './select.tsx';

interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly className?: string;
}

/** A row of choices of which one is pressed: the parts of a page, or ways to see it. Keep the choice in the address. Where not all have room, the pressed one is in the middle. */
export function Segmented<Value extends string>({ label, value, choices, onChoose, className }: SegmentedProps<Value>): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const pressed = row.current?.querySelector<HTMLElement>('[aria-pressed=true]');
    if (row.current && pressed) row.current.scrollLeft = pressed.offsetLeft - (row.current.clientWidth - pressed.offsetWidth) / 2;
  }, [value]);
  return (
    <div
      ref={row}
      role="group"
      aria-label={label}
      className={cx('relative inline-flex max-w-full overflow-x-auto rounded-md border border-line bg-sunken p-0.5', className)}
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
    </div>
  );
}
