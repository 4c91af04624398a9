import { createRootRoute, createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { ApiError } from './api.ts';
import { BrokenOutside } from './layout/broken.tsx';
import { PendingOutside } from './layout/pending.tsx';
import { Root } from './layout/root.tsx';
import { NotFoundOutside } from './pages/not-found/page.tsx';
import { loadAccount } from './session.ts';
import { isViewable, viewedAccount } from './viewed.ts';

/** What all pages stand in. */
export const root = createRootRoute({ component: Root, notFoundComponent: NotFoundOutside });

/** What pages stand in that are only for people who are signed in. */
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: lazyRouteComponent(() => import('./layout/app-layout.tsx'), 'AppLayout'),
  errorComponent: BrokenOutside,
  pendingComponent: PendingOutside,
  beforeLoad: async ({ location }) => {
    if (viewedAccount !== undefined && !isViewable(location.pathname)) throw notFound();
    try {
      if (!(await loadAccount())) throw redirect({ to: '/sign-in', search: { to: location.href } });
    } catch (error) {
      // Whoever does not run the service can look at nobody's account.
      if (viewedAccount !== undefined && error instanceof ApiError && error.status === 404) throw notFound();
      throw error;
    }
  },
});
