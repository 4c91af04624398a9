import { Hono } from 'hono';
import type { Banners } from '../../banners.ts';
import { operating } from '../../operators.ts';
import type { Env, Parts } from '../../parts.ts';
import { accountsRoutes } from './accounts.ts';
import { auditRoutes } from './audit.ts';
import { codeRoutes } from './codes.ts';
import { adminModelRoutes } from './models.ts';
import { overviewRoutes } from './overview.ts';
import { paymentRoutes } from './payments.ts';
import { adminPlanRoutes } from './plans.ts';
import { adminProviderRoutes } from './providers.ts';
import { requestsRoutes } from './requests.ts';
import { serviceRoutes } from './settings.ts';
import { viewRoutes, type Pages } from './view.ts';

interface Beside {
  readonly banners: Banners;
  /** What every account has, for whoever owns it. */
  readonly pages: Pages;
}

/** What only operators see and do. Every address below it asks who is there; there is no way around. */
export function adminRoutes(parts: Parts, { banners, pages }: Beside) {
  return new Hono<Env>()
    .use(operating)
    .route('/accounts', accountsRoutes(parts))
    .route('/audit', auditRoutes(parts))
    .route('/codes', codeRoutes(parts))
    .route('/models', adminModelRoutes(parts))
    .route('/overview', overviewRoutes(parts))
    .route('/payments', paymentRoutes(parts))
    .route('/plans', adminPlanRoutes(parts))
    .route('/providers', adminProviderRoutes(parts))
    .route('/requests', requestsRoutes(parts))
    .route('/settings', serviceRoutes(parts, banners))
    .route('/view/:viewed', viewRoutes(parts, pages));
}
