import { useEffect, useState } from 'react';
import type { JSX } from 'react';
import { writeAmount } from '../../money.ts';
import { requests as t } from '../../strings/index.ts';
import { Field } from '../../ui/field.tsx';
import { PAUSE_MS } from '../../ui/filter-bar.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { readBound } from './read-bound.ts';
import type { BOUNDS } from './search.ts';

interface BoundInputProps {
  readonly name: (typeof BOUNDS)[number];
  readonly value: string;
  /** Called with a valid bound when the user pauses typing. */
  readonly onValue: (value: string) => void;
}

/** Input for a minimum or maximum. Invalid input changes nothing and shows an error. */
export function BoundInput({ name, value, onValue }: BoundInputProps): JSX.Element {
  const kind = name.startsWith('cost') ? 'usd' : 'count';
  const shown = writeAmount(value);
  const [typed, setTyped] = useState(shown);
  const [isPaused, setPaused] = useState(false);
  const read = readBound(kind, typed);
  const isWrong = isPaused && read === undefined;
  useEffect(() => setTyped(shown), [shown]);
  useEffect(() => {
    if (read === value) return;
    const timer = setTimeout(() => (read === undefined ? setPaused(true) : onValue(read)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [read, value, onValue]);
  const change = (text: string): void => {
    setTyped(text);
    setPaused(false);
  };
  return (
    <Field label={t.filters[name]} error={isWrong ? t.filters.unread[kind](writeAmount('0.001')) : undefined}>
      {(wiring) => <TextInput {...wiring} inputMode="decimal" autoComplete="off" className="figures" value={typed} onText={change} />}
    </Field>
  );
}
