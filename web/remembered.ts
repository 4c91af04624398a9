import { useSyncExternalStore } from 'react';

/** A choice that this browser remembers, and that every part of the page sees at once when it changes. */
export interface Remembered<Value extends string> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Keeps a choice under a name. What was stored is checked, because anybody may have written it. */
export function remember<Value extends string>(
  name: string,
  { fallback, isValid }: { fallback: () => Value; isValid: (text: string) => text is Value },
): Remembered<Value> {
  const listeners = new Set<() => void>();
  const stored = readStored(name);
  let value = stored !== null && isValid(stored) ? stored : fallback();
  return {
    get: () => value,
    set: (next) => {
      value = next;
      store(name, next);
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The present value of a remembered choice. */
export function useRemembered<Value extends string>(remembered: Remembered<Value>): Value {
  return useSyncExternalStore(remembered.subscribe, remembered.get);
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
