import { Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { makeId } from '../ids.ts';
import { describeInterface } from '../reference/openapi.ts';
import { API_ERRORS, ApiError } from './api-error.ts';
import { limitAtOnce } from './at-once.ts';
import { Banners } from './banners.ts';
import type { Env, Dependencies } from './dependencies.ts';
import { openHealth } from './health.ts';
import { accountRoutes } from './routes/account.ts';
import { adminRoutes } from './routes/admin/admin.ts';
import { alertRoutes } from './routes/alerts.ts';
import { billingRoutes } from './routes/billing.ts';
import { keyRoutes } from './routes/keys.ts';
import { modelRoutes } from './routes/models.ts';
import { planRoutes } from './routes/plans.ts';
import { playgroundRoutes } from './routes/playground.ts';
import { startRoutes } from './routes/start.ts';
import { statusRoutes } from './routes/status.ts';
import { overviewRoutes } from './routes/overview.ts';
import { requestsRoutes } from './routes/requests.ts';
import { statementRoutes } from './routes/statement.ts';
import { usageRoutes } from './routes/usage.ts';
import { invitationRoutes } from './routes/invitations.ts';
import { settingsRoutes } from './routes/settings.ts';
import { setupRoutes } from './routes/setup.ts';
import { verificationRoutes } from './routes/verification.ts';
import { API_HEADERS, strictTransport } from './web-files.ts';

/** Every route under `/api`. Handlers take the person from the session. API keys for `/v1` are not accepted here. */
export function dashboardApi(dependencies: Dependencies) {
  const app = new Hono<Env>().basePath('/api');
  const safetyHeaders = { ...API_HEADERS, ...strictTransport(dependencies.settings.publicUrl) };
  app.use(async (c, next) => {
    c.set('requestId', makeId('req'));
    await next();
    c.header('x-request-id', c.get('requestId'));
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
    for (const [name, value] of Object.entries(safetyHeaders)) c.header(name, value);
  });
  app.use(async (c, next) => {
    // PostgreSQL cannot store NUL, and no id contains it.
    if (c.req.url.includes('%00')) throw new ApiError('invalid', 'The URL contains a NUL character.');
    await next();
  });
  app.use(sameOrigin(dependencies));
  app.use(jsonOnly);
  app.onError((error, c) => {
    const known = knownError(error);
    if (known.code === 'internal_error') dependencies.fail('a dashboard request failed', error);
    // For a path such as /api/../x the middleware above has not run, so there is no id yet.
    const requestId = (c.get('requestId') as string | undefined) ?? makeId('req');
    return c.json(
      { error: { code: known.code, message: known.message, field: known.field, request_id: requestId } },
      API_ERRORS[known.code],
      { ...safetyHeaders, ...known.headers, 'x-request-id': requestId, 'cache-control': 'no-store' },
    );
  });
  app.notFound(() => {
    throw new ApiError('not_found', 'Nothing was found at this URL.');
  });
  app.on(['GET', 'POST'], '/auth/*', (c) => dependencies.auth.handle(c.req.raw, c.env.address));
  app.get('/openapi.json', (c) => c.json(describeInterface(dependencies.settings.publicUrl)));

  const readHealth = openHealth(dependencies);
  const banners = new Banners(dependencies.database.kysely);
  const fewAtOnce = limitAtOnce();
  const people = () => new Hono<Env>().use(requireSession(dependencies)).use(fewAtOnce);
  const pages = accountPages(dependencies, banners);
  return app
    .route('/models', modelRoutes(dependencies, readHealth))
    .route('/status', statusRoutes(dependencies, readHealth))
    .route('/setup', setupRoutes(dependencies))
    .route('/verification', verificationRoutes(dependencies))
    .route('/invitations', invitationRoutes(dependencies))
    .route('/account', people().route('/', pages.account))
    .route('/settings', people().route('/', settingsRoutes(dependencies)))
    .route('/start', people().route('/', startRoutes(dependencies)))
    .route('/overview', people().route('/', pages.overview))
    .route('/keys', people().route('/', pages.keys))
    .route('/alerts', people().route('/', pages.alerts))
    .route('/usage', people().route('/', pages.usage))
    .route('/requests', people().route('/', pages.requests))
    .route('/billing', people().route('/', pages.billing))
    .route('/plans', people().route('/', pages.plans))
    .route('/statement', people().route('/', pages.statement))
    .route('/playground', people().route('/', playgroundRoutes(dependencies)))
    .route('/admin', people().route('/', adminRoutes(dependencies, { banners, pages })));
}

/** The pages of an account, for its owner and for operators who view it. */
function accountPages(dependencies: Dependencies, banners: Banners) {
  return {
    account: accountRoutes(dependencies, banners),
    overview: overviewRoutes(dependencies),
    keys: keyRoutes(dependencies),
    usage: usageRoutes(dependencies),
    requests: requestsRoutes(dependencies),
    billing: billingRoutes(dependencies),
    plans: planRoutes(dependencies),
    statement: statementRoutes(dependencies),
    alerts: alertRoutes(dependencies),
  };
}

/** Converts any error to an ApiError. The router's validators throw their own exception when a body cannot be parsed. */
function knownError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException && error.status === API_ERRORS.invalid) return new ApiError('invalid', 'The body must be JSON.');
  return new ApiError('internal_error', 'Something went wrong on our side. Try again.');
}

/** The type from which the browser's client knows every route with its input and output. */
export type Api = ReturnType<typeof dashboardApi>;

/** Allows only requests with a valid session. */
export function requireSession(dependencies: Dependencies): MiddlewareHandler<Env> {
  return async (c, next) => {
    const person = await dependencies.auth.findPerson(c.req.raw.headers);
    if (person === undefined) throw new ApiError('unauthenticated', 'Sign in to see this.');
    c.set('person', person);
    await next();
  };
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Rejects changes from other sites. Their pages can make a browser send our cookies, but cannot forge the Origin header. */
function sameOrigin({ settings }: Dependencies): MiddlewareHandler<Env> {
  const own = new URL(settings.publicUrl).origin;
  return async (c, next) => {
    if (!SAFE_METHODS.has(c.req.method) && c.req.header('origin') !== own)
      throw new ApiError(
        'forbidden',
        `Changes are accepted only from pages of ${own}. If that is not the address of your service, set PUBLIC_URL.`,
      );
    await next();
  };
}

/** No wider than what the validators read as JSON. */
const JSON_TYPE = /^application\/json(?:;\s*[a-z0-9-]+=[^;]+)*$/iu;

/** Refuses bodies of any other type, which the validators would take for empty. A form on another site cannot send JSON. */
const jsonOnly: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.raw.body !== null && !JSON_TYPE.test(c.req.header('content-type') ?? ''))
    throw new ApiError('invalid', 'Send JSON with the header content-type: application/json.');
  await next();
};
