import { useSyncExternalStore } from 'react';

/**
 * Handles a session that ends while a page is open. The user is sent to the sign-in page, unless they have typed into a form: then the
 * page stays open with a notice, so that their input is not lost.
 */

let typedAt: string | undefined;
let isOver = false;
const listeners = new Set<() => void>();
const tabs = new BroadcastChannel('tollgate.sign-out');

/** Starts watching for input into forms, and for a sign-out in another tab. */
export function watchSession(): void {
  document.addEventListener('input', ({ target }) => {
    if (target instanceof Element && target.closest('form') !== null) typedAt = location.pathname;
  });
  tabs.addEventListener('message', () => location.assign('/sign-in'));
}

/** Sends the other tabs to the sign-in page, so that signing out leaves nothing visible. */
export function signOutOtherTabs(): void {
  tabs.postMessage('');
}

/** Handles a response that says nobody is signed in. Returns true if the page stays open. */
export function handleSignedOut(): boolean {
  const stays = typedAt === location.pathname;
  if (stays) setOver(true);
  else goToSignIn();
  return stays;
}

/** Clears the notice once the account can be read again. */
export function handleSignedIn(): void {
  setOver(false);
}

/** Tells whether the page is still open although its session has ended. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => isOver);
}

/** Goes to the sign-in page, which returns to the current URL. Does nothing on the sign-in page itself. */
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
