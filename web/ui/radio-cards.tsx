import { useId } from 'react';
import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

export interface RadioCard<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isDisabled?: boolean;
}

interface RadioCardsProps<Value extends string> {
  readonly legend: string;
  readonly isLegendHidden?: boolean;
  readonly value: Value | undefined;
  readonly cards: readonly RadioCard<Value>[];
  readonly onChoose: (value: Value) => void;
  readonly className?: string;
}

/** Radio buttons as cards, with room for an explanation each. */
export function RadioCards<Value extends string>(props: RadioCardsProps<Value>): JSX.Element {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className={props.isLegendHidden === true ? 'sr-only' : 'mb-1.5 text-sm font-medium'}>{props.legend}</legend>
      <div className={cx('grid gap-2', props.className ?? 'sm:grid-cols-2')}>
        {props.cards.map((card) => (
          <label
            key={card.value}
            className="flex items-start gap-2.5 rounded-md border border-line-strong bg-raised px-3 py-2.5 text-sm hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent has-disabled:cursor-not-allowed has-disabled:opacity-55"
          >
            <input
              type="radio"
              name={name}
              value={card.value}
              checked={card.value === props.value}
              disabled={card.isDisabled}
              onChange={() => props.onChoose(card.value)}
              className="mt-0.5 size-4 shrink-0 focus-visible:outline-none"
            />
            <span className="min-w-0">
              <span className="block font-medium">{card.label}</span>
              {card.hint !== undefined && <span className="block text-xs text-muted">{card.hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
