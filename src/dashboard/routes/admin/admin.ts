import { Hono } from 'hono';
import type { Banners } from '../../banners.ts';
import { operatorsOnly } from '../../operators.ts';
import type { Env, Parts } from '../../parts.ts';
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
export function adminRoutes(parts: Parts, { banners, pages }: Shared) {
  return new Hono<Env>()
    .use(operatorsOnly)
    .route('/accounts', adminAccountRoutes(parts))
    .route('/audit', adminAuditRoutes(parts))
    .route('/codes', adminCodeRoutes(parts))
    .route('/models', adminModelRoutes(parts))
    .route('/overview', adminOverviewRoutes(parts))
    .route('/payments', adminPaymentRoutes(parts))
    .route('/plans', adminPlanRoutes(parts))
    .route('/providers', adminProviderRoutes(parts))
    .route('/requests', adminRequestsRoutes(parts))
    .route('/settings', adminSettingsRoutes(parts, banners))
    .route('/view/:viewed', adminViewRoutes(parts, pages));
}
