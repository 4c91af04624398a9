import { createStore, useStore } from './store.ts';

/** A key created on this page. Its secret cannot be shown again: it exists in memory only and is gone when the page closes. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
}

const fresh = createStore<FreshKey | undefined>(undefined);

/** Keeps a new secret in memory so that code examples can include it. Closing the page warns until the secret is copied. */
export function setFreshKey(key: FreshKey | undefined): void {
  fresh.set(key);
  if (key === undefined) removeEventListener('beforeunload', warn);
  else addEventListener('beforeunload', warn);
}

/** Returns the key created last on this page, while its secret is in memory. */
export function useFreshKey(): FreshKey | undefined {
  return useStore(fresh);
}

/** Stops the warning once the copied text includes the secret. */
export function handleCopied(text: string): void {
  const key = fresh.get();
  if (key !== undefined && text.includes(key.secret)) removeEventListener('beforeunload', warn);
}

// Also covers a secret that is selected and copied manually.
document.addEventListener('copy', () => handleCopied(String(getSelection())));

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
