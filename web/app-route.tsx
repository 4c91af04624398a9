import { createRootRoute, createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { isNotFound } from './api.ts';
import { BrokenOutside } from './layout/broken.tsx';
import { PendingOutside } from './layout/pending.tsx';
import { Root } from './layout/root.tsx';
import { NotFoundOutside } from './pages/not-found/page.tsx';
import { loadAccount } from './session.ts';
import { isViewable, viewedAccount } from './viewed.ts';

/** Root route of all pages. */
export const root = createRootRoute({ component: Root, notFoundComponent: NotFoundOutside });

/** Parent route of the pages that require a session. */
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
      // Only operators can view another account.
      if (viewedAccount !== undefined && isNotFound(error)) throw notFound();
      throw error;
    }
  },
});
