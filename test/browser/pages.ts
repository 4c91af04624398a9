import type { World } from './world.ts';

/** Whoever comes by, somebody who has signed in, and who runs the service. */
export type Visitor = 'anybody' | 'people' | 'operators';

/** Every page of the dashboard, by a short name. */
export function pagesOf({
  accountId,
  keyId,
  requestId,
}: Pick<World, 'accountId' | 'keyId' | 'requestId'>): readonly (readonly [name: string, path: string, isFor: Visitor])[] {
  return [
    ['landing', '/', 'anybody'],
    ['models', '/models', 'anybody'],
    ['model', '/models?id=openai%2Fgpt-5.4-mini', 'anybody'],
    ['status', '/status', 'anybody'],
    ['docs', '/docs', 'anybody'],
    ['sign-in', '/sign-in', 'anybody'],
    ['sign-up', '/sign-up', 'anybody'],
    ['verify', '/verify', 'anybody'],
    ['forgot', '/forgot', 'anybody'],
    ['reset', '/reset?token=none', 'anybody'],
    ['two-factor', '/two-factor', 'anybody'],
    ['setup', '/setup', 'anybody'],
    ['not-found', '/nowhere', 'anybody'],
    ['start', '/start', 'people'],
    ['overview', '/overview', 'people'],
    ['keys', '/keys', 'people'],
    ['key', `/keys/${keyId}`, 'people'],
    ['usage', '/usage', 'people'],
    ['requests', '/requests', 'people'],
    ['request', `/requests?request=${requestId}`, 'people'],
    ['billing', '/billing', 'people'],
    ['plans', '/plans', 'people'],
    ['alerts', '/alerts', 'people'],
    ['playground', '/playground', 'people'],
    ['settings', '/settings', 'people'],
    ['security', '/settings?tab=security', 'people'],
    ['sessions', '/settings?tab=sessions', 'people'],
    ['data', '/settings?tab=data', 'people'],
    ['admin-accounts', '/admin/accounts', 'operators'],
    ['admin-account', `/admin/accounts/${accountId}`, 'operators'],
    ['admin-models', '/admin/models', 'operators'],
    ['admin-model', '/admin/models?id=openai%2Fgpt-5.4', 'operators'],
    ['admin-overview', '/admin', 'operators'],
    ['admin-requests', '/admin/requests', 'operators'],
    ['admin-request', `/admin/requests?request=${requestId}`, 'operators'],
    ['admin-codes', '/admin/codes', 'operators'],
    ['admin-providers', '/admin/providers', 'operators'],
    ['admin-provider', '/admin/providers?id=openai', 'operators'],
    ['admin-plans', '/admin/plans', 'operators'],
    ['admin-audit', '/admin/audit', 'operators'],
    ['admin-payments', '/admin/payments', 'operators'],
    ['admin-payment-events', '/admin/payments?view=events', 'operators'],
    ['admin-settings', '/admin/settings', 'operators'],
    ['admin-compare', '/admin/payments?view=compare', 'operators'],
  ];
}
