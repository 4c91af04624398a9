import { useSyncExternalStore } from 'react';

/** A secret that was made in this page and cannot be had again. It is in memory only and gone with the page. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
}

let fresh: FreshKey | undefined;
const listeners = new Set<() => void>();

/** Keeps a secret that was just made, so that examples can be filled in with it. */
export function keepFreshKey(key: FreshKey | undefined): void {
  fresh = key;
  for (const listener of listeners) listener();
}

/** The secret that was made last in this page, while it is known. */
export function useFreshKey(): FreshKey | undefined {
  return useSyncExternalStore(subscribe, () => fresh);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
