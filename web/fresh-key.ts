import { keep, useRemembered } from './remembered.ts';

/** A secret that was made in this page and cannot be had again. It is in memory only and gone with the page. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
}

const fresh = keep<FreshKey | undefined>(undefined);

/** Keeps a secret that was just made, so that examples can be filled in with it. */
export function keepFreshKey(key: FreshKey | undefined): void {
  fresh.set(key);
}

/** The secret that was made last in this page, while it is known. */
export function useFreshKey(): FreshKey | undefined {
  return useRemembered(fresh);
}
