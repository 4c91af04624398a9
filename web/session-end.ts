import { useSyncExternalStore } from 'react';

/**
 * What happens when the session ends while a page is open. Whoever only reads is taken to the sign-in page. Whoever has
 * typed into a form keeps the page and is told, so that nothing typed is lost.
 */

let typedAt: string | undefined;
let isOver = false;
const listeners = new Set<() => void>();
const tabs = new BroadcastChannel('tollgate.sign-out');

/** Begins to notice what is typed into forms, and that another tab was signed out. */
export function watchSession(): void {
  document.addEventListener('input', ({ target }) => {
    if (target instanceof Element && target.closest('form') !== null) typedAt = location.pathname;
  });
  tabs.addEventListener('message', () => location.assign('/sign-in'));
}

/** Takes the other tabs out too: whoever signs out wants to leave nothing in sight. */
export function signOutOtherTabs(): void {
  tabs.postMessage('');
}

/** Told when an answer says that nobody is signed in. Returns true where the page stays nevertheless. */
export function noticeSignedOut(): boolean {
  const stays = typedAt === location.pathname;
  if (stays) setOver(true);
  else goToSignIn();
  return stays;
}

/** Told when the account could be read. */
export function noticeSignedIn(): void {
  setOver(false);
}

/** True while a page is shown whose session has ended. */
export function useSessionIsOver(): boolean {
  return useSyncExternalStore(subscribe, () => isOver);
}

/** Goes to the sign-in page with the present address to return to, unless this is that page. */
function goToSignIn(): void {
  const { pathname, search } = location;
  if (pathname === '/sign-in') return;
  location.assign(`/sign-in?to=${encodeURIComponent(pathname + search)}`);
}

function setOver(value: boolean): void {
  isOver = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
