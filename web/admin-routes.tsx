import { createRoute, notFound } from '@tanstack/react-router';
import { app } from './app-route.tsx';
import { lazyPage } from './lazy-page.ts';
import { readAccountSearch } from './pages/admin/account/search.ts';
import { readAccountsSearch } from './pages/admin/accounts/search.ts';
import { readAuditSearch } from './pages/admin/audit/search.ts';
import { readCodesSearch } from './pages/admin/codes/search.ts';
import { readAdminModelsSearch } from './pages/admin/models/search.ts';
import { readAdminOverviewSearch } from './pages/admin/overview/search.ts';
import { readPaymentsSearch } from './pages/admin/payments/search.ts';
import { readAdminPlansSearch } from './pages/admin/plans/search.ts';
import { readAdminProvidersSearch } from './pages/admin/providers/search.ts';
import { readAdminRequestsSearch } from './pages/admin/requests/search.ts';
import { NotFoundPage } from './pages/not-found/page.tsx';
import { dropUnknown } from './search-params.ts';
import { isOperator } from './session.ts';

/** Operator-only pages. For others they do not exist, and the server checks every request again. */
const admin = createRoute({
  getParentRoute: () => app,
  path: '/admin',
  component: lazyPage(() => import('./layout/admin-layout.tsx'), 'AdminLayout'),
  notFoundComponent: NotFoundPage,
  beforeLoad: () => {
    if (!isOperator()) throw notFound();
  },
});
const overview = createRoute({
  getParentRoute: () => admin,
  path: '/',
  validateSearch: dropUnknown(readAdminOverviewSearch),
  component: lazyPage(() => import('./pages/admin/overview/page.tsx'), 'AdminOverviewPage'),
});
const accounts = createRoute({
  getParentRoute: () => admin,
  path: '/accounts',
  validateSearch: dropUnknown(readAccountsSearch),
  component: lazyPage(() => import('./pages/admin/accounts/page.tsx'), 'AccountsPage'),
});
const account = createRoute({
  getParentRoute: () => admin,
  path: '/accounts/$id',
  validateSearch: dropUnknown(readAccountSearch),
  component: lazyPage(() => import('./pages/admin/account/page.tsx'), 'AccountPage'),
});
const requests = createRoute({
  getParentRoute: () => admin,
  path: '/requests',
  validateSearch: dropUnknown(readAdminRequestsSearch),
  component: lazyPage(() => import('./pages/admin/requests/page.tsx'), 'AdminRequestsPage'),
});
const payments = createRoute({
  getParentRoute: () => admin,
  path: '/payments',
  validateSearch: dropUnknown(readPaymentsSearch),
  component: lazyPage(() => import('./pages/admin/payments/page.tsx'), 'PaymentsPage'),
});
const codes = createRoute({
  getParentRoute: () => admin,
  path: '/codes',
  validateSearch: dropUnknown(readCodesSearch),
  component: lazyPage(() => import('./pages/admin/codes/page.tsx'), 'CodesPage'),
});
const plans = createRoute({
  getParentRoute: () => admin,
  path: '/plans',
  validateSearch: dropUnknown(readAdminPlansSearch),
  component: lazyPage(() => import('./pages/admin/plans/page.tsx'), 'AdminPlansPage'),
});
const models = createRoute({
  getParentRoute: () => admin,
  path: '/models',
  validateSearch: dropUnknown(readAdminModelsSearch),
  component: lazyPage(() => import('./pages/admin/models/page.tsx'), 'AdminModelsPage'),
});
const providers = createRoute({
  getParentRoute: () => admin,
  path: '/providers',
  validateSearch: dropUnknown(readAdminProvidersSearch),
  component: lazyPage(() => import('./pages/admin/providers/page.tsx'), 'AdminProvidersPage'),
});
const audit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: dropUnknown(readAuditSearch),
  component: lazyPage(() => import('./pages/admin/audit/page.tsx'), 'AuditPage'),
});
const settings = createRoute({
  getParentRoute: () => admin,
  path: '/settings',
  component: lazyPage(() => import('./pages/admin/settings/page.tsx'), 'ServicePage'),
});
const firstSteps = createRoute({
  getParentRoute: () => admin,
  path: '/first-steps',
  component: lazyPage(() => import('./pages/admin/first-steps/page.tsx'), 'FirstStepsPage'),
});

/** All operator pages, in the same form as those in routes.tsx. */
export const adminPages = admin.addChildren([
  overview,
  accounts,
  account,
  requests,
  payments,
  codes,
  plans,
  models,
  providers,
  audit,
  settings,
  firstSteps,
]);
