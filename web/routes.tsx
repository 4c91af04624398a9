import { createRoute, createRouter, notFound, redirect } from '@tanstack/react-router';
import { adminPages } from './admin-routes.tsx';
import { app, root } from './app-route.tsx';
import { AccountLayout } from './layout/account-layout.tsx';
import { PageError, LayoutError } from './layout/page-error.tsx';
import { Pending, PendingLayout } from './layout/pending.tsx';
import { PublicLayout } from './layout/public-layout.tsx';
import { lazyPage } from './lazy-page.ts';
import { readAlertsSearch } from './pages/alerts/search.ts';
import { readBillingSearch } from './pages/billing/search.ts';
import { readKeySearch } from './pages/key/search.ts';
import { readKeysSearch } from './pages/keys/search.ts';
import { readLandingSearch } from './pages/landing/search.ts';
import { readModelsSearch } from './pages/models/search.ts';
import { NotFoundPage } from './pages/not-found/page.tsx';
import { readOverviewSearch } from './pages/overview/search.ts';
import { readPlansSearch } from './pages/plans/search.ts';
import { readPlaygroundSearch } from './pages/playground/search.ts';
import { readRequestsSearch } from './pages/requests/search.ts';
import { readResetSearch } from './pages/reset/search.ts';
import { readSettingsSearch } from './pages/settings/search.ts';
import { readSetupSearch } from './pages/setup/search.ts';
import { readSignInSearch, type SignInSearch } from './pages/sign-in/search.ts';
import { readSignUpSearch } from './pages/sign-up/search.ts';
import { readStartSearch } from './pages/start/search.ts';
import { readTwoFactorSearch } from './pages/two-factor/search.ts';
import { readUsageSearch } from './pages/usage/search.ts';
import { readVerifySearch } from './pages/verify/search.ts';
import { readWelcomeSearch } from './pages/welcome/search.ts';
import { safeReturn } from './safe-return.ts';
import { dropUnknown } from './search-params.ts';
import { hasSession, loadAccount } from './session.ts';
import { basePath, viewedAccount } from './viewed.ts';

/**
 * Every page of the dashboard: its path, its search parameters, and its file, which is loaded on demand.
 * A page reads its parameters with `getRouteApi('/app/keys').useSearch()`; that id is the layout's id followed by the path.
 */
const publicPages = createRoute({
  getParentRoute: () => root,
  id: 'public',
  component: PublicLayout,
  errorComponent: LayoutError,
  pendingComponent: PendingLayout,
  beforeLoad: async () => ({ isSignedIn: await hasSession() }),
});
const landing = createRoute({
  getParentRoute: () => publicPages,
  path: '/',
  validateSearch: dropUnknown(readLandingSearch),
  component: lazyPage(() => import('./pages/landing/page.tsx'), 'LandingPage'),
  beforeLoad: ({ context }) => {
    if (context.isSignedIn) throw redirect({ to: '/overview' });
  },
});
const models = createRoute({
  getParentRoute: () => publicPages,
  path: '/models',
  validateSearch: dropUnknown(readModelsSearch),
  component: lazyPage(() => import('./pages/models/page.tsx'), 'ModelsPage'),
});
const status = createRoute({
  getParentRoute: () => publicPages,
  path: '/status',
  component: lazyPage(() => import('./pages/status/page.tsx'), 'StatusPage'),
});
const docs = createRoute({
  getParentRoute: () => publicPages,
  path: '/docs',
  component: lazyPage(() => import('./pages/docs/page.tsx'), 'DocsPage'),
});

/** Any other URL. Inside this layout, people keep their navigation. */
const unknown = createRoute({
  getParentRoute: () => publicPages,
  path: '$',
  component: NotFoundPage,
  beforeLoad: () => {
    // The layout would say that an account is viewed, even to somebody who may not.
    if (viewedAccount !== undefined) throw notFound();
  },
});

const account = createRoute({ getParentRoute: () => root, id: 'account', component: AccountLayout });
const signIn = createRoute({
  getParentRoute: () => account,
  path: '/sign-in',
  validateSearch: dropUnknown<SignInSearch>(readSignInSearch),
  beforeLoad: async ({ search: { to, error } }) => {
    // Stay here to show the error of an identity provider, or if the account cannot be loaded: the user may have another one.
    if (error !== undefined || !(await hasSession()) || !(await loadAccount().catch(() => false))) return;
    throw redirect({ href: safeReturn(to, location.origin), reloadDocument: true });
  },
  component: lazyPage(() => import('./pages/sign-in/page.tsx'), 'SignInPage'),
});
const signUp = createRoute({
  getParentRoute: () => account,
  path: '/sign-up',
  validateSearch: dropUnknown(readSignUpSearch),
  component: lazyPage(() => import('./pages/sign-up/page.tsx'), 'SignUpPage'),
});
const verify = createRoute({
  getParentRoute: () => account,
  path: '/verify',
  validateSearch: dropUnknown(readVerifySearch),
  component: lazyPage(() => import('./pages/verify/page.tsx'), 'VerifyPage'),
});
const forgot = createRoute({
  getParentRoute: () => account,
  path: '/forgot',
  component: lazyPage(() => import('./pages/forgot/page.tsx'), 'ForgotPage'),
});
const reset = createRoute({
  getParentRoute: () => account,
  path: '/reset',
  validateSearch: dropUnknown(readResetSearch),
  component: lazyPage(() => import('./pages/reset/page.tsx'), 'ResetPage'),
});
const twoFactor = createRoute({
  getParentRoute: () => account,
  path: '/two-factor',
  validateSearch: dropUnknown(readTwoFactorSearch),
  component: lazyPage(() => import('./pages/two-factor/page.tsx'), 'TwoFactorPage'),
});
const welcome = createRoute({
  getParentRoute: () => account,
  path: '/welcome',
  validateSearch: dropUnknown(readWelcomeSearch),
  component: lazyPage(() => import('./pages/welcome/page.tsx'), 'WelcomePage'),
});
const setup = createRoute({
  getParentRoute: () => account,
  path: '/setup',
  validateSearch: dropUnknown(readSetupSearch),
  component: lazyPage(() => import('./pages/setup/page.tsx'), 'SetupPage'),
});

const start = createRoute({
  getParentRoute: () => app,
  path: '/start',
  validateSearch: dropUnknown(readStartSearch),
  component: lazyPage(() => import('./pages/start/page.tsx'), 'StartPage'),
});
const overview = createRoute({
  getParentRoute: () => app,
  path: '/overview',
  validateSearch: dropUnknown(readOverviewSearch),
  component: lazyPage(() => import('./pages/overview/page.tsx'), 'OverviewPage'),
});
const keys = createRoute({
  getParentRoute: () => app,
  path: '/keys',
  validateSearch: dropUnknown(readKeysSearch),
  component: lazyPage(() => import('./pages/keys/page.tsx'), 'KeysPage'),
});
const key = createRoute({
  getParentRoute: () => app,
  path: '/keys/$id',
  validateSearch: dropUnknown(readKeySearch),
  component: lazyPage(() => import('./pages/key/page.tsx'), 'KeyPage'),
});
const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  validateSearch: dropUnknown(readUsageSearch),
  component: lazyPage(() => import('./pages/usage/page.tsx'), 'UsagePage'),
});
const requests = createRoute({
  getParentRoute: () => app,
  path: '/requests',
  validateSearch: dropUnknown(readRequestsSearch),
  component: lazyPage(() => import('./pages/requests/page.tsx'), 'RequestsPage'),
});
const billing = createRoute({
  getParentRoute: () => app,
  path: '/billing',
  validateSearch: dropUnknown(readBillingSearch),
  component: lazyPage(() => import('./pages/billing/page.tsx'), 'BillingPage'),
});
const plans = createRoute({
  getParentRoute: () => app,
  path: '/plans',
  validateSearch: dropUnknown(readPlansSearch),
  component: lazyPage(() => import('./pages/plans/page.tsx'), 'PlansPage'),
});
const alerts = createRoute({
  getParentRoute: () => app,
  path: '/alerts',
  validateSearch: dropUnknown(readAlertsSearch),
  component: lazyPage(() => import('./pages/alerts/page.tsx'), 'AlertsPage'),
});
const playground = createRoute({
  getParentRoute: () => app,
  path: '/playground',
  validateSearch: dropUnknown(readPlaygroundSearch),
  component: lazyPage(() => import('./pages/playground/page.tsx'), 'PlaygroundPage'),
});
const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  validateSearch: dropUnknown(readSettingsSearch),
  component: lazyPage(() => import('./pages/settings/page.tsx'), 'SettingsPage'),
});

const tree = root.addChildren([
  publicPages.addChildren([landing, models, status, docs, unknown]),
  account.addChildren([signIn, signUp, verify, forgot, reset, twoFactor, welcome, setup]),
  app.addChildren([start, overview, keys, key, usage, requests, billing, plans, alerts, playground, settings, adminPages]),
]);

/** The router with the types of all pages. */
export const router = createRouter({
  routeTree: tree,
  basepath: basePath,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: PageError,
  defaultPendingComponent: Pending,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
