import type { JSX } from 'react';
import { createStore, useStore } from '../store.ts';

const announcement = createStore('');

/** Has screen readers read out a sentence, for changes that are otherwise only visible. */
export function announce(sentence: string): void {
  // Screen readers repeat a sentence only if the text changes.
  announcement.set(announcement.get() === sentence ? `${sentence}\u00A0` : sentence);
}

/** Live region for screen readers; rendered once in the dashboard. */
export function Announcer(): JSX.Element {
  return (
    <p aria-live="polite" className="sr-only">
      {useStore(announcement)}
    </p>
  );
}
