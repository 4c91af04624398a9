import { keep, useRemembered } from './remembered.ts';

/** A secret that was made in this page and cannot be had again. It is in memory only and gone with the page. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
}

const fresh = keep<FreshKey | undefined>(undefined);

/** Keeps a secret that was just made, so that examples can be filled in with it. Leaving warns of it until it is copied. */
export function keepFreshKey(key: FreshKey | undefined): void {
  fresh.set(key);
  if (key === undefined) removeEventListener('beforeunload', warn);
  else addEventListener('beforeunload', warn);
}

/** The secret that was made last in this page, while it is known. */
export function useFreshKey(): FreshKey | undefined {
  return useRemembered(fresh);
}

/** Told what was copied: a secret that somebody has need not be warned of any more. */
export function noticeCopied(text: string): void {
  const key = fresh.get();
  if (key !== undefined && text.includes(key.secret)) removeEventListener('beforeunload', warn);
}

/** Whoever has the secret marked copies it without a button. */
document.addEventListener('copy', () => noticeCopied(String(getSelection())));

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
