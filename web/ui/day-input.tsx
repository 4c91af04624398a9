import { useEffect, useState } from 'react';
import type { ChangeEvent, JSX } from 'react';
import { FIRST_DAY, isKnownDay, LAST_DAY } from '../time.ts';

interface DayInputProps {
  readonly label: string;
  /** A day as `YYYY-MM-DD`, or nothing. */
  readonly value: string;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  /** Told of whole days, and of nothing when the day was taken out. */
  readonly onDay: (day: string) => void;
}

/**
 * A day of a range. Whoever types `2026` passes the years 2, 20 and 202: none of these is handed on, or the page would
 * change, and the box with it, under the typist's hands.
 */
export function DayInput({ label, value, min = FIRST_DAY, max = LAST_DAY, onDay }: DayInputProps): JSX.Element {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const change = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    setTyped(target.value);
    // Half a day is no day to the browser, too, and yet the box is not empty.
    const isTakenOut = target.value === '' && !target.validity.badInput;
    if (isTakenOut || isKnownDay(target.value)) onDay(target.value);
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
