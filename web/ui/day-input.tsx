import { useEffect, useState } from 'react';
import type { ChangeEvent, JSX } from 'react';
import { FIRST_DAY, isValidDay, LAST_DAY } from '../time.ts';

interface DayInputProps {
  readonly label: string;
  /** A day as `YYYY-MM-DD`, or empty. */
  readonly value: string;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  /** Called with a complete day, or with an empty text when the day is cleared. */
  readonly onDay: (day: string) => void;
}

/**
 * Input for a day of a range. Typing `2026` passes through the years 2, 20 and 202. These are not reported, or the page would reload
 * and overwrite the input while the user types.
 */
export function DayInput({ label, value, min = FIRST_DAY, max = LAST_DAY, onDay }: DayInputProps): JSX.Element {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const change = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    setTyped(target.value);
    // The browser also reports a half-typed day as an empty value.
    const isCleared = target.value === '' && !target.validity.badInput;
    if (isCleared || isValidDay(target.value)) onDay(target.value);
  };
  return (
    <input
      type="date"
      aria-label={label}
      value={typed}
      min={min}
      max={max}
      onChange={change}
      onBlur={() => setTyped(value)}
      className="control w-auto"
    />
  );
}
