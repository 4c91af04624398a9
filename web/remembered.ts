import { useSyncExternalStore } from 'react';

/** A value that every part of the page sees at once when it changes. */
export interface Remembered<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Keeps a value in memory, for as long as the page is open. */
export function keep<Value>(first: Value): Remembered<Value> {
  const listeners = new Set<() => void>();
  let value = first;
  return {
    get: () => value,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Keeps a choice under a name, which this browser remembers. What was stored is checked, because anybody may have written it. */
export function remember<Value extends string>(
  name: string,
  { fallback, isValid }: { fallback: () => Value; isValid: (text: string) => text is Value },
): Remembered<Value> {
  const stored = readStored(name);
  const kept = keep(stored !== null && isValid(stored) ? stored : fallback());
  return {
    ...kept,
    set: (next) => {
      store(name, next);
      kept.set(next);
    },
  };
}

/** The present value of what is kept. */
export function useRemembered<Value>({ subscribe, get }: Remembered<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}

function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`tollgate.${name}`);
  } catch {
    // Browsers may forbid storage; then the choice lasts as long as the page.
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(`tollgate.${name}`, value);
  } catch {
    // As above: a choice that cannot be stored still holds for this page.
  }
}
