import { dashboardApi } from '../../src/dashboard/api.ts';
import { KEY_NAME, type Belongings } from './belongings.ts';
import type { TestDashboard } from './open-dashboard.ts';

/** What the security tests know about each route. They fail for a route that is not listed here. */

export interface Route {
  readonly method: string;
  readonly path: string;
}

/** Returns every route of the dashboard's API, except those of the authentication library, which has its own list. */
export function routesOf({ dependencies }: TestDashboard): Route[] {
  const real = dashboardApi(dependencies).routes.filter(({ method, path }) => method !== 'ALL' && !path.endsWith('*'));
  const names = new Set(real.map(({ method, path }) => `${method} ${path}`));
  return [...names].map(routeOf);
}

export function routeOf(name: string): Route {
  const [method = '', path = ''] = name.split(' ');
  return { method, path };
}

/** Routes without a session. All others require one. */
const PUBLIC = new Set([
  'GET /api/openapi.json',
  'GET /api/models',
  'GET /api/status',
  'GET /api/setup',
  'POST /api/setup',
  'POST /api/verification',
  // The token is a secret: anyone who has it may read the invitation.
  'GET /api/invitations/:token',
]);

export function isPublic({ method, path }: Route): boolean {
  return PUBLIC.has(`${method} ${path}`);
}

/** Whether a route is for operators only; admin.test.ts covers those. */
export function isForOperators({ path }: Route): boolean {
  return path.startsWith('/api/admin/');
}

/** Routes with an id: the kind of id, and the body to send. Routes that delete something come last for their kind. */
export const OWNED: Readonly<Record<string, { readonly of: keyof Belongings; readonly body?: unknown }>> = {
  'GET /api/keys/:id': { of: 'key' },
  'GET /api/keys/:id/live': { of: 'key' },
  'PATCH /api/keys/:id': { of: 'key', body: { isDisabled: true } },
  'POST /api/keys/:id/trial': { of: 'key' },
  'POST /api/keys/:id/rotate': { of: 'key', body: { overlapMs: 60_000 } },
  'POST /api/keys/:id/end-overlap': { of: 'key' },
  'DELETE /api/keys/:id': { of: 'key', body: { name: KEY_NAME } },
  'DELETE /api/settings/sessions/:id': { of: 'session' },
  'PATCH /api/settings/passkeys/:id': { of: 'passkey', body: { name: 'phone' } },
  'DELETE /api/settings/linked-accounts/:id': { of: 'linked' },
  'DELETE /api/settings/passkeys/:id': { of: 'passkey' },
  'PATCH /api/alerts/rules/:id': { of: 'rule', body: { threshold: '7', byMail: false, byWebhook: true } },
  'DELETE /api/alerts/rules/:id': { of: 'rule' },
  'GET /api/requests/:id': { of: 'request' },
  'GET /api/requests/exports/:id/file': { of: 'export' },
  'DELETE /api/requests/exports/:id': { of: 'export' },
  'DELETE /api/usage/views/:id': { of: 'view' },
  'GET /api/billing/payments/:id': { of: 'payment' },
  'GET /api/billing/payments/:id/receipt': { of: 'payment' },
  'DELETE /api/billing/cards/:id': { of: 'card' },
};

/** Changes whose body contains an id, and the response if the id belongs to another account. */
export const NAMED_IN_BODY: Readonly<
  Record<string, { readonly body: (theirs: Belongings) => unknown; readonly answer: readonly [number, string] }>
> = {
  'POST /api/keys/bulk': { body: ({ key }) => ({ action: 'delete', ids: [key] }), answer: [200, '{"changed":0}'] },
  'PUT /api/billing/auto-top-up': {
    body: ({ card }) => ({ isOn: true, thresholdUsd: '5', amountUsd: '10', monthlyCapUsd: '30', methodRef: card }),
    answer: [400, 'Choose a saved card.'],
  },
  'POST /api/plans/take': {
    body: ({ card }) => ({ planId: 'pro', atMs: Date.now(), quoteId: '', payBy: 'card', methodRef: card }),
    answer: [400, 'Card not found.'],
  },
  'PUT /api/plans/payment': { body: ({ card }) => ({ payBy: 'card', methodRef: card }), answer: [400, 'Card not found.'] },
};

/** Changes without an id: they affect only the person who is signed in. */
export const ABOUT_ONESELF: readonly string[] = [
  'PUT /api/plans/use',
  'POST /api/account/first-key',
  'DELETE /api/settings/sessions',
  'PATCH /api/settings',
  'POST /api/settings/two-factor',
  'POST /api/settings/password',
  'POST /api/settings/delete',
  'POST /api/keys',
  'POST /api/alerts/rules',
  'PUT /api/alerts/webhook',
  'POST /api/alerts/webhook/secret',
  'DELETE /api/alerts/webhook',
  'POST /api/alerts/test',
  'PUT /api/usage/views',
  'PUT /api/requests/logging',
  'DELETE /api/requests/contents',
  'POST /api/requests/exports',
  'POST /api/billing/top-ups',
  'POST /api/billing/redeem',
  'POST /api/plans/cancel',
  'POST /api/plans/resume',
  'POST /api/playground/key',
];
