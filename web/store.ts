import { useSyncExternalStore } from 'react';

/** A value shared by the whole page, with change notifications. */
export interface Store<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Creates a store in memory, which lasts as long as the page. */
export function createStore<Value>(first: Value): Store<Value> {
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

/** Creates a store that is saved in this browser under a name. The saved value is validated, since anything may have written it. */
export function createSavedStore<Value extends string>(
  name: string,
  { fallback, isValid }: { fallback: () => Value; isValid: (text: string) => text is Value },
): Store<Value> {
  const saved = readSaved(name);
  const store = createStore(saved !== null && isValid(saved) ? saved : fallback());
  return {
    ...store,
    set: (next) => {
      save(name, next);
      store.set(next);
    },
  };
}

/** Returns the current value of a store and re-renders when it changes. */
export function useStore<Value>({ subscribe, get }: Store<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}

function readSaved(name: string): string | null {
  try {
    return localStorage.getItem(`tollgate.${name}`);
  } catch {
    // Browsers may forbid storage. The choice then lasts as long as the page.
    return null;
  }
}

function save(name: string, value: string): void {
  try {
    localStorage.setItem(`tollgate.${name}`, value);
  } catch {
    // As above: a choice that cannot be saved still applies to this page.
  }
}
