import { Hono } from 'hono';
import type { Banners } from '../../banners.ts';
import { operatorsOnly } from '../../operators.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { adminAccountRoutes } from './accounts.ts';
import { adminAuditRoutes } from './audit.ts';
import { adminCodeRoutes } from './codes.ts';
import { adminModelRoutes } from './models.ts';
import { adminOverviewRoutes } from './overview.ts';
import { adminPaymentRoutes } from './payments.ts';
import { adminPlanRoutes } from './plans.ts';
import { adminProviderRoutes } from './providers.ts';
import { adminRequestsRoutes } from './requests.ts';
import { adminSettingsRoutes } from './settings.ts';
import { adminViewRoutes, type Pages } from './view.ts';

interface Shared {
  readonly banners: Banners;
  /** The pages of an account, as its owner sees them. */
  readonly pages: Pages;
}

/** The operators' routes. The guard applies to every route below. */
export function adminRoutes(dependencies: Dependencies, { banners, pages }: Shared) {
  return new Hono<Env>()
    .use(operatorsOnly)
    .route('/accounts', adminAccountRoutes(dependencies))
    .route('/audit', adminAuditRoutes(dependencies))
    .route('/codes', adminCodeRoutes(dependencies))
    .route('/models', adminModelRoutes(dependencies))
    .route('/overview', adminOverviewRoutes(dependencies))
    .route('/payments', adminPaymentRoutes(dependencies))
    .route('/plans', adminPlanRoutes(dependencies))
    .route('/providers', adminProviderRoutes(dependencies))
    .route('/requests', adminRequestsRoutes(dependencies))
    .route('/settings', adminSettingsRoutes(dependencies, banners))
    .route('/view/:viewed', adminViewRoutes(dependencies, pages));
}
