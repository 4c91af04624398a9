import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { BrokenOutside } from './layout/broken.tsx';
import { Pending } from './layout/pending.tsx';
import { Root } from './layout/root.tsx';
import { loadAccount } from './session.ts';

/** What all pages stand in. */
export const root = createRootRoute({ component: Root });

/** What pages stand in that are only for people who are signed in. */
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: lazyRouteComponent(() => import('./layout/app-layout.tsx'), 'AppLayout'),
  errorComponent: BrokenOutside,
  pendingComponent: Pending,
  beforeLoad: async ({ location }) => {
    if (!(await loadAccount())) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});
