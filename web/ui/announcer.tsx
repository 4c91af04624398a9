import { useSyncExternalStore } from 'react';
import type { JSX } from 'react';

let text = '';
const listeners = new Set<() => void>();

/** Has screen readers read out a sentence, for changes that are otherwise only visible. */
export function announce(sentence: string): void {
  // Screen readers repeat a sentence only if the text changes.
  text = text === sentence ? `${sentence}\u00A0` : sentence;
  for (const listener of listeners) listener();
}

/** Live region for screen readers; rendered once in the dashboard. */
export function Announcer(): JSX.Element {
  const sentence = useSyncExternalStore(subscribe, () => text);
  return (
    <p aria-live="polite" className="sr-only">
      {sentence}
    </p>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
