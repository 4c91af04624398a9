import { createRootRoute, createRoute, createRouter, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { AccountLayout } from './layout/account-layout.tsx';
import { Broken, BrokenOutside } from './layout/broken.tsx';
import { Pending } from './layout/pending.tsx';
import { PublicLayout } from './layout/public-layout.tsx';
import { Root } from './layout/root.tsx';
import { readAccountSearch } from './pages/admin/account/search.ts';
import { readAccountsSearch } from './pages/admin/accounts/search.ts';
import { readAuditSearch } from './pages/admin/audit/search.ts';
import { readAdminModelsSearch } from './pages/admin/models/search.ts';
import { readAdminOverviewSearch } from './pages/admin/overview/search.ts';
import { readAdminRequestsSearch } from './pages/admin/requests/search.ts';
import { readPaymentsSearch } from './pages/admin/payments/search.ts';
import { readCodesSearch } from './pages/admin/codes/search.ts';
import { readAdminProvidersSearch } from './pages/admin/providers/search.ts';
import { readAdminPlansSearch } from './pages/admin/plans/search.ts';
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
import { readSignInSearch } from './pages/sign-in/search.ts';
import { readSignUpSearch } from './pages/sign-up/search.ts';
import { readStartSearch } from './pages/start/search.ts';
import { readTwoFactorSearch } from './pages/two-factor/search.ts';
import { readUsageSearch } from './pages/usage/search.ts';
import { readVerifySearch } from './pages/verify/search.ts';
import { readWelcomeSearch } from './pages/welcome/search.ts';
import { only } from './search-params.ts';
import { hasSession, isOperator, loadAccount } from './session.ts';

/**
 * Every page of the dashboard: its address, what may stand behind the question mark, and its file, which is loaded when it is needed.
 * A page reads its part with `getRouteApi('/app/keys').useSearch()`; the id is the layout's and the path.
 */
const root = createRootRoute({ component: Root });

const publicPages = createRoute({
  getParentRoute: () => root,
  id: 'public',
  component: PublicLayout,
  errorComponent: BrokenOutside,
  pendingComponent: Pending,
  beforeLoad: async () => ({ isSignedIn: await hasSession() }),
});
const landing = createRoute({
  getParentRoute: () => publicPages,
  path: '/',
  validateSearch: only(readLandingSearch),
  component: lazyRouteComponent(() => import('./pages/landing/page.tsx'), 'LandingPage'),
  beforeLoad: ({ context }) => {
    if (context.isSignedIn) throw redirect({ to: '/overview' });
  },
});
const models = createRoute({
  getParentRoute: () => publicPages,
  path: '/models',
  validateSearch: only(readModelsSearch),
  component: lazyRouteComponent(() => import('./pages/models/page.tsx'), 'ModelsPage'),
});
const status = createRoute({
  getParentRoute: () => publicPages,
  path: '/status',
  component: lazyRouteComponent(() => import('./pages/status/page.tsx'), 'StatusPage'),
});
const docs = createRoute({
  getParentRoute: () => publicPages,
  path: '/docs',
  component: lazyRouteComponent(() => import('./pages/docs/page.tsx'), 'DocsPage'),
});

const account = createRoute({ getParentRoute: () => root, id: 'account', component: AccountLayout });
const signIn = createRoute({
  getParentRoute: () => account,
  path: '/sign-in',
  validateSearch: only(readSignInSearch),
  component: lazyRouteComponent(() => import('./pages/sign-in/page.tsx'), 'SignInPage'),
});
const signUp = createRoute({
  getParentRoute: () => account,
  path: '/sign-up',
  validateSearch: only(readSignUpSearch),
  component: lazyRouteComponent(() => import('./pages/sign-up/page.tsx'), 'SignUpPage'),
});
const verify = createRoute({
  getParentRoute: () => account,
  path: '/verify',
  validateSearch: only(readVerifySearch),
  component: lazyRouteComponent(() => import('./pages/verify/page.tsx'), 'VerifyPage'),
});
const forgot = createRoute({
  getParentRoute: () => account,
  path: '/forgot',
  component: lazyRouteComponent(() => import('./pages/forgot/page.tsx'), 'ForgotPage'),
});
const reset = createRoute({
  getParentRoute: () => account,
  path: '/reset',
  validateSearch: only(readResetSearch),
  component: lazyRouteComponent(() => import('./pages/reset/page.tsx'), 'ResetPage'),
});
const twoFactor = createRoute({
  getParentRoute: () => account,
  path: '/two-factor',
  validateSearch: only(readTwoFactorSearch),
  component: lazyRouteComponent(() => import('./pages/two-factor/page.tsx'), 'TwoFactorPage'),
});
const welcome = createRoute({
  getParentRoute: () => account,
  path: '/welcome',
  validateSearch: only(readWelcomeSearch),
  component: lazyRouteComponent(() => import('./pages/welcome/page.tsx'), 'WelcomePage'),
});
const setup = createRoute({
  getParentRoute: () => account,
  path: '/setup',
  validateSearch: only(readSetupSearch),
  component: lazyRouteComponent(() => import('./pages/setup/page.tsx'), 'SetupPage'),
});

const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: lazyRouteComponent(() => import('./layout/app-layout.tsx'), 'AppLayout'),
  errorComponent: BrokenOutside,
  pendingComponent: Pending,
  beforeLoad: async ({ location }) => {
    if (!(await loadAccount())) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});
const start = createRoute({
  getParentRoute: () => app,
  path: '/start',
  validateSearch: only(readStartSearch),
  component: lazyRouteComponent(() => import('./pages/start/page.tsx'), 'StartPage'),
});
const overview = createRoute({
  getParentRoute: () => app,
  path: '/overview',
  validateSearch: only(readOverviewSearch),
  component: lazyRouteComponent(() => import('./pages/overview/page.tsx'), 'OverviewPage'),
});
const keys = createRoute({
  getParentRoute: () => app,
  path: '/keys',
  validateSearch: only(readKeysSearch),
  component: lazyRouteComponent(() => import('./pages/keys/page.tsx'), 'KeysPage'),
});
const key = createRoute({
  getParentRoute: () => app,
  path: '/keys/$id',
  validateSearch: only(readKeySearch),
  component: lazyRouteComponent(() => import('./pages/key/page.tsx'), 'KeyPage'),
});
const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  validateSearch: only(readUsageSearch),
  component: lazyRouteComponent(() => import('./pages/usage/page.tsx'), 'UsagePage'),
});
const requests = createRoute({
  getParentRoute: () => app,
  path: '/requests',
  validateSearch: only(readRequestsSearch),
  component: lazyRouteComponent(() => import('./pages/requests/page.tsx'), 'RequestsPage'),
});
const billing = createRoute({
  getParentRoute: () => app,
  path: '/billing',
  validateSearch: only(readBillingSearch),
  component: lazyRouteComponent(() => import('./pages/billing/page.tsx'), 'BillingPage'),
});
const plans = createRoute({
  getParentRoute: () => app,
  path: '/plans',
  validateSearch: only(readPlansSearch),
  component: lazyRouteComponent(() => import('./pages/plans/page.tsx'), 'PlansPage'),
});
const alerts = createRoute({
  getParentRoute: () => app,
  path: '/alerts',
  validateSearch: only(readAlertsSearch),
  component: lazyRouteComponent(() => import('./pages/alerts/page.tsx'), 'AlertsPage'),
});
const playground = createRoute({
  getParentRoute: () => app,
  path: '/playground',
  validateSearch: only(readPlaygroundSearch),
  component: lazyRouteComponent(() => import('./pages/playground/page.tsx'), 'PlaygroundPage'),
});
const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  validateSearch: only(readSettingsSearch),
  component: lazyRouteComponent(() => import('./pages/settings/page.tsx'), 'SettingsPage'),
});

/** What only operators see. To others these pages do not exist; the server asks again for everything they show. */
const admin = createRoute({
  getParentRoute: () => app,
  path: '/admin',
  component: lazyRouteComponent(() => import('./layout/admin-layout.tsx'), 'AdminLayout'),
  beforeLoad: () => {
    if (!isOperator()) throw notFound();
  },
});
const adminAccounts = createRoute({
  getParentRoute: () => admin,
  path: '/accounts',
  validateSearch: only(readAccountsSearch),
  component: lazyRouteComponent(() => import('./pages/admin/accounts/page.tsx'), 'AccountsPage'),
});
const adminAccount = createRoute({
  getParentRoute: () => admin,
  path: '/accounts/$id',
  validateSearch: only(readAccountSearch),
  component: lazyRouteComponent(() => import('./pages/admin/account/page.tsx'), 'AccountPage'),
});
const adminAudit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: only(readAuditSearch),
  component: lazyRouteComponent(() => import('./pages/admin/audit/page.tsx'), 'AuditPage'),
});
const adminModels = createRoute({
  getParentRoute: () => admin,
  path: '/models',
  validateSearch: only(readAdminModelsSearch),
  component: lazyRouteComponent(() => import('./pages/admin/models/page.tsx'), 'AdminModelsPage'),
});
const adminOverview = createRoute({
  getParentRoute: () => admin,
  path: '/',
  validateSearch: only(readAdminOverviewSearch),
  component: lazyRouteComponent(() => import('./pages/admin/overview/page.tsx'), 'AdminOverviewPage'),
});
const adminRequests = createRoute({
  getParentRoute: () => admin,
  path: '/requests',
  validateSearch: only(readAdminRequestsSearch),
  component: lazyRouteComponent(() => import('./pages/admin/requests/page.tsx'), 'AdminRequestsPage'),
});
const adminPayments = createRoute({
  getParentRoute: () => admin,
  path: '/payments',
  validateSearch: only(readPaymentsSearch),
  component: lazyRouteComponent(() => import('./pages/admin/payments/page.tsx'), 'PaymentsPage'),
});
const adminCodes = createRoute({
  getParentRoute: () => admin,
  path: '/codes',
  validateSearch: only(readCodesSearch),
  component: lazyRouteComponent(() => import('./pages/admin/codes/page.tsx'), 'CodesPage'),
});
const adminProviders = createRoute({
  getParentRoute: () => admin,
  path: '/providers',
  validateSearch: only(readAdminProvidersSearch),
  component: lazyRouteComponent(() => import('./pages/admin/providers/page.tsx'), 'AdminProvidersPage'),
});
const adminSettings = createRoute({
  getParentRoute: () => admin,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/admin/settings/page.tsx'), 'ServicePage'),
});
const adminPlans = createRoute({
  getParentRoute: () => admin,
  path: '/plans',
  validateSearch: only(readAdminPlansSearch),
  component: lazyRouteComponent(() => import('./pages/admin/plans/page.tsx'), 'AdminPlansPage'),
});

const tree = root.addChildren([
  publicPages.addChildren([landing, models, status, docs]),
  account.addChildren([signIn, signUp, verify, forgot, reset, twoFactor, welcome, setup]),
  app.addChildren([
    start,
    overview,
    keys,
    key,
    usage,
    requests,
    billing,
    plans,
    alerts,
    playground,
    settings,
    admin.addChildren([
      adminAccounts,
      adminAccount,
      adminAudit,
      adminModels,
      adminRequests,
      adminPayments,
      adminCodes,
      adminProviders,
      adminSettings,
      adminOverview,
      adminPlans,
    ]),
  ]),
]);

/** Finds the page of an address, and knows the types of all of them. */
export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: Broken,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
