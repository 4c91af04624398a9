import { useSyncExternalStore } from 'react';
import type { JSX } from 'react';

let text = '';
const listeners = new Set<() => void>();

/** Reads a sentence out to screen readers, for what is only seen otherwise. */
export function announce(sentence: string): void {
  // The same sentence twice is read twice only when the text differs.
  text = text === sentence ? `${sentence}\u00A0` : sentence;
  for (const listener of listeners) listener();
}

/** The place that screen readers listen to; stands once in the dashboard. */
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
