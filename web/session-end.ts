import { createStore, useStore } from './store.ts';

/**
 * Handles a session that ends while a page is open. The user is sent to the sign-in page, unless they have typed into a form: then the
 * page stays open with a notice, so that their input is not lost.
 */

let typedAt: string | undefined;
const hasEnded = createStore(false);
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
  if (stays) hasEnded.set(true);
  else goToSignIn();
  return stays;
}

/** Clears the notice once the account can be read again. */
export function handleSignedIn(): void {
  hasEnded.set(false);
}

/** Tells whether the page is still open although its session has ended. */
export function useSessionEnded(): boolean {
  return useStore(hasEnded);
}

/** Goes to the sign-in page, which returns to the current URL. Does nothing on the sign-in page itself. */
function goToSignIn(): void {
  const { pathname, search } = location;
  if (pathname === '/sign-in') return;
  location.assign(`/sign-in?to=${encodeURIComponent(pathname + search)}`);
}
