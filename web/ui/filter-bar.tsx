import { Search, X } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { TextInput } from './text-input.tsx';

interface FilterBarProps {
  readonly children: ReactNode;
  /** Given if a filter is active. */
  readonly onClear?: (() => void) | undefined;
}

/** The filters of a list, in a row that wraps. Keep their values in the URL. */
export function FilterBar({ children, onClear }: FilterBarProps): JSX.Element {
  return (
    <div role="search" className="mb-4 flex flex-wrap items-center gap-2">
      {children}
      {onClear !== undefined && (
        <Button variant="quiet" size="sm" onClick={onClear}>
          <X aria-hidden="true" />
          {t.clearFilters}
        </Button>
      )}
    </div>
  );
}

interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  /** Called when the user pauses typing. */
  readonly onText: (text: string) => void;
}

/** Pause in typing after which the search starts. */
export const PAUSE_MS = 250;

/** A search box. Its text is reported after a pause, so that not every letter causes a request. */
export function SearchInput({ label, value, onText }: SearchInputProps): JSX.Element {
  const [typed, setTyped] = useState(value);
  // Pages pass a new function with every render, which must not start the pause again.
  const report = useEffectEvent(onText);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => report(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <span className="relative block w-full sm:w-64">
      <Search aria-hidden="true" className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-muted" />
      <TextInput type="search" aria-label={label} placeholder={label} value={typed} onText={setTyped} className="pl-8" />
    </span>
  );
}
