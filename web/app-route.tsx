import { createRootRoute, createRoute, notFound, redirect } from '@tanstack/react-router';
import { isNotFound } from './api.ts';
import { LayoutError } from './layout/page-error.tsx';
import { PendingLayout } from './layout/pending.tsx';
import { Root } from './layout/root.tsx';
import { lazyPage } from './lazy-page.ts';
import { NotFoundWithoutLayout } from './pages/not-found/page.tsx';
import { loadAccount } from './session.ts';
import { isViewable, viewedAccount } from './viewed.ts';

/** Root route of all pages. */
export const root = createRootRoute({ component: Root, notFoundComponent: NotFoundWithoutLayout });

/** Parent route of the pages that require a session. */
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: lazyPage(() => import('./layout/app-layout.tsx'), 'AppLayout'),
  errorComponent: LayoutError,
  pendingComponent: PendingLayout,
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
