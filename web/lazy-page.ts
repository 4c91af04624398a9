import { lazyRouteComponent } from '@tanstack/react-router';
import { faults } from './strings/index.ts';
import { toast } from './ui/toast.tsx';

const TIMEOUT_MS = 10_000;

/**
 * A page whose script is loaded on demand. A script that is gone after a deployment makes the router load the page anew, once. Without
 * a connection that would lead to the browser's own error page, so the page says what is wrong instead.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (cause: unknown) => {
        if (await isServerReachable()) throw cause;
        throw new Error('The script of this page could not be loaded.', { cause });
      }),
    name,
  );

/** Loads the page anew, which fetches failed scripts again and those of a new version. Without a connection it says so and keeps the page. */
export async function reloadPage(): Promise<void> {
  if (await isServerReachable()) location.reload();
  else toast('bad', faults.unreachable);
}

function isServerReachable(): Promise<boolean> {
  return fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    () => true,
    () => false,
  );
}
