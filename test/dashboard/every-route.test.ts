import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Plans } from '../../src/accounts/plans.ts';
import { AUTH_PATHS } from '../../src/dashboard/auth/requests.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import { jsonOf } from './answers.ts';
import { giveBelongings, type Belongings } from './belongings.ts';
import { answerForGate } from './gate-answers.ts';
import { NO_PAYMENTS, openDashboard, ORIGIN, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { ABOUT_ONESELF, isForOperators, isPublic, NAMED_IN_BODY, OWNED, routeOf, routesOf, type Route } from './route-table.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;
const SAFE = new Set(['GET', 'HEAD']);

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Fills the parameters of a route, by default with an id that does not exist. */
function fill({ method, path }: Route, id = 'some-id'): Route {
  return { method, path: path.replaceAll(/:\w+/gu, id) };
}

function ask(
  browser: TestBrowser,
  { method, path }: Route,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return method === 'GET' ? browser.get(path, headers) : browser.send(method as Method, path, body, headers);
}

describeStores((makeStore) => {
  let stripe: StripeSimulator;
  let dashboard: TestDashboard;
  let [mine, theirs]: TestBrowser[] = [];
  let things: Belongings;

  beforeAll(async () => {
    stripe = await startStripeSimulator();
    const payments = { ...NO_PAYMENTS, stripe: { secretKey: 'sk_test_simulated', webhookSecret: stripe.secret, apiUrl: stripe.url } };
    const signInProviders = [{ id: 'github', name: 'GitHub', clientId: 'x', clientSecret: 'y', issuer: undefined }] as const;
    dashboard = await openDashboard(await makeStore(), { settings: { payments, signInProviders }, ask: answerForGate });
    const plans = new Plans(dashboard.dependencies.database.kysely);
    for (const plan of [planOf('basic', { price: usd('10') }), planOf('pro', { price: usd('30') })]) await plans.save(plan, 'command');
    mine = await dashboard.signedUp('mine@example.com');
    theirs = await dashboard.signedUp('theirs@example.com');
    await dashboard.browser().signIn('theirs@example.com');
    await giveBelongings(dashboard, mine, stripe);
    things = await giveBelongings(dashboard, theirs, stripe);
  }, TEST_MS);
  afterAll(async () => {
    await dashboard.end();
    await stripe.stop();
  });

  const [me, them] = [() => mine ?? dashboard.browser(), () => theirs ?? dashboard.browser()];

  test('every route is in the table', () => {
    const routes = routesOf(dashboard).filter((route) => !isPublic(route) && !isForOperators(route));
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    expect(names.filter((name) => name.includes(':')).toSorted()).toEqual(Object.keys(OWNED).toSorted());
    const changes = names.filter((name) => !name.startsWith('GET ') && !name.includes(':'));
    expect(changes.toSorted()).toEqual([...Object.keys(NAMED_IN_BODY), ...ABOUT_ONESELF].toSorted());
  });

  test(
    'requests without a session, with an API key or with a forged cookie get 401',
    async () => {
      const { secret } = await jsonOf(await me().send('POST', '/api/keys', { name: 'to be tried' }));
      const cookie = `tollgate.session_token=forged.${'x'.repeat(43)}=`;
      const stranger = dashboard.browser();
      for (const headers of [{}, { authorization: `Bearer ${String(secret)}` }, { 'x-api-key': String(secret) }, { cookie }])
        for (const route of routesOf(dashboard).filter((each) => !isPublic(each))) {
          const { status } = await ask(stranger, fill(route), {}, headers);
          expect([route.method, route.path, status]).toEqual([route.method, route.path, 401]);
        }
      for (const [name, { needsSession }] of Object.entries(AUTH_PATHS)) {
        if (needsSession !== true) continue;
        const { method, path } = routeOf(name);
        expect([name, (await ask(stranger, { method, path: `/api/auth${path}` }, ANY_AUTH_BODY)).status]).toEqual([name, 401]);
      }
    },
    TEST_MS,
  );

  test(
    'changes are accepted from our own pages only',
    async () => {
      const cookie = [...me().cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const changing = [...routesOf(dashboard), ...authRoutes()].filter(({ method }) => !SAFE.has(method));
      const strangers = [
        'https://evil.example',
        'null',
        `${ORIGIN}.evil.example`,
        ORIGIN.replace('http:', 'https:'),
        `${ORIGIN}:8080`,
        undefined,
      ];
      for (const origin of strangers)
        for (const route of changing) {
          const { method, path } = fill(route);
          const headers = { cookie, 'content-type': 'application/json', ...(origin !== undefined && { origin }) };
          const answer = await dashboard.answer(new Request(ORIGIN + path, { method, headers, body: '{}' }));
          expect([origin, method, path, answer.status]).toEqual([origin, method, path, 403]);
          expect(answer.headers.getSetCookie()).toEqual([]);
        }
      expect((await me().get('/api/account')).status).toBe(200);
    },
    TEST_MS,
  );

  test.each(['', '{', 'name=x'])('a body that is not JSON (%j) gets 400, not 500', async (body) => {
    const cookie = [...me().cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, origin: ORIGIN, 'content-type': 'application/json' };
    for (const name of ['POST /api/keys', 'POST /api/requests/exports', 'PUT /api/requests/logging', 'POST /api/setup']) {
      const { method, path } = routeOf(name);
      const answer = await dashboard.answer(new Request(ORIGIN + path, { method, headers, body }));
      expect([name, answer.status]).toEqual([name, 400]);
      expect(await jsonOf(answer)).toMatchObject({ error: { code: 'invalid', message: 'The body must be JSON.' } });
    }
  });

  test(
    'a body of any other type than JSON is refused, not taken for an empty one',
    async () => {
      const cookie = [...me().cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const changing = [...routesOf(dashboard), ...authRoutes()].filter(({ method }) => !SAFE.has(method));
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/json-seq', undefined])
        for (const route of changing) {
          const { method, path } = fill(route);
          const headers = { cookie, origin: ORIGIN, ...(type !== undefined && { 'content-type': type }) };
          const body = new TextEncoder().encode('{}');
          const answer = await dashboard.answer(new Request(ORIGIN + path, { method, headers, body }));
          expect([type, method, path, answer.status]).toEqual([type, method, path, 400]);
        }
      expect((await me().get('/api/account')).status).toBe(200);
    },
    TEST_MS,
  );

  test.each([
    ['application/json;charset=utf-8', 200],
    ['Application/JSON; charset="utf-8"', 200],
    ['application/json ;charset=utf-8', 400],
    ['application/json;', 400],
  ])('a change of the type %j is made or refused, never ignored', async (type, status) => {
    const name = `Ada (${type})`;
    const answer = await me().send('PATCH', '/api/settings', { name }, { 'content-type': type });
    expect(answer.status).toBe(status);
    const { name: now } = (await jsonOf(await me().get('/api/account'))) as { name: string };
    expect(now === name).toBe(status === 200);
  });

  test(
    'a NUL character anywhere in a URL is refused',
    async () => {
      for (const route of routesOf(dashboard)) {
        const { method, path } = fill(route, 'a%00b');
        const odd = path === route.path ? `${path}?q=%00` : path;
        expect([method, odd, (await ask(me(), { method, path: odd })).status]).toEqual([method, odd, 400]);
      }
    },
    TEST_MS,
  );

  test.each<[Method, string, unknown]>([
    ['POST', '/api/keys/bulk', { action: 'delete', ids: ['a\0b'] }],
    ['PUT', '/api/usage/views', { page: 'usage', name: 'a view', search: 'a\0b' }],
    ['POST', '/api/plans/take', { planId: 'a\0b', atMs: Date.now(), quoteId: '', payBy: 'balance' }],
    ['POST', '/api/auth/reset-password', { token: 'a\0b', newPassword: 'correct horse staple' }],
  ])('%s %s refuses a body with a NUL character', async (method, path, body) => {
    expect((await me().send(method, path, body)).status).toBe(400);
  });

  test(
    'every response has the security headers',
    async () => {
      const routes = [...routesOf(dashboard), { method: 'GET', path: '/api/nothing' }, { method: 'OPTIONS', path: '/api/keys' }];
      for (const browser of [me(), dashboard.browser()])
        for (const route of routes.filter(({ method }) => method === 'GET' || method === 'OPTIONS')) {
          const { method, path } = fill(route);
          const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
          const answer = await dashboard.answer(new Request(`${ORIGIN}${path}?${queryOf(things)}`, { method, headers: { cookie } }));
          const { headers } = answer;
          expect([path, headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual([path, 'nosniff', 'no-store']);
          expect([path, headers.get('cross-origin-resource-policy')]).toEqual([path, 'same-origin']);
          expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
          expect(headers.get('x-request-id')).toMatch(/^req_/u);
          for (const name of headers.keys()) expect(name).not.toStartWith('access-control-');
        }
    },
    TEST_MS,
  );

  test('no response contains data of other accounts, even when asked for their ids', async () => {
    const reads = routesOf(dashboard).filter((route) => route.method === 'GET' && !route.path.includes(':') && !isForOperators(route));
    for (const { path } of reads) {
      const [own, foreign] = [await them().get(`${path}?${queryOf(things)}`), await me().get(`${path}?${queryOf(things)}`)];
      expect([path, foreign.status, own.status]).toEqual([path, 200, 200]);
      const text = await foreign.text();
      const { account_id } = await ownerOf(things.key);
      for (const secret of [...Object.values(things), 'theirs@example.com', account_id])
        expect([path, text.includes(secret)]).toEqual([path, false]);
    }
  });

  test('an export contains everything that a person configured, paid and recorded, and no signing secret', async () => {
    const { kysely } = dashboard.dependencies.database;
    const { account_id } = await ownerOf(things.key);
    const content = { account_id, request: '{"a":1}', answer: 'b', is_cut: 0, delete_at: Date.now() + DAY_MS };
    const ids = Array.from({ length: 25 }, (_, index) => `req_content_${String(index).padStart(2, '0')}`);
    await kysely
      .insertInto('request_contents')
      .values(ids.map((request_id) => ({ ...content, request_id })))
      .execute();
    const text = await (await them().get('/api/settings/export')).text();
    const exported = JSON.parse(text) as Record<string, unknown>;
    expect(exported).toMatchObject({
      linked_accounts: [{ provider: 'github' }],
      alerts: { webhook: 'https://hooks.example.com/', rules: [{ kind: 'low_balance' }], deliveries: [{ channel: 'webhook' }] },
      saved_views: [{ page: 'usage', name: 'a view' }],
      payments: [{ id: things.payment, usd: '50', status: 'paid' }],
      plans: [{ plan_id: 'basic', status: 'active' }],
    });
    expect(exported['changes']).toContainEqual(expect.objectContaining({ by: 'you', action: 'key.create', subject: things.key }));
    expect((exported['contents'] as { request_id: string }[]).map(({ request_id }) => request_id)).toEqual(ids.toReversed());
    const { secret } = await kysely
      .selectFrom('alert_webhooks')
      .select('secret')
      .where('account_id', '=', account_id)
      .executeTakeFirstOrThrow();
    expect(text).not.toContain(secret);
    await kysely.deleteFrom('request_contents').where('account_id', '=', account_id).execute();
  });

  test(
    'data of another account is not found, but works for its owner',
    async () => {
      const before = await look(them());
      for (const [name, { of, body }] of Object.entries(OWNED)) {
        const answer = await ask(me(), fill(routeOf(name), things[of]), body);
        expect([name, answer.status]).toEqual([name, 404]);
      }
      for (const [name, { body, answer }] of Object.entries(NAMED_IN_BODY)) {
        const given = await ask(me(), routeOf(name), body(things));
        expect([name, given.status, await given.text()]).toEqual([name, answer[0], expect.stringContaining(answer[1])]);
      }
      expect(await look(them())).toEqual(before);
      for (const [name, { of, body }] of Object.entries(OWNED)) {
        const answer = await ask(them(), fill(routeOf(name), things[of]), body);
        expect([name, answer.ok ? 'ok' : await answer.text()]).toEqual([name, 'ok']);
      }
    },
    TEST_MS,
  );

  const ownerOf = (keyId: string) =>
    dashboard.dependencies.database.kysely.selectFrom('api_keys').select('account_id').where('id', '=', keyId).executeTakeFirstOrThrow();
});

/** A body that is valid for every route of the library. */
const ANY_AUTH_BODY = {
  newEmail: 'new@example.com',
  currentPassword: 'x',
  newPassword: 'seven loud herons',
  password: 'x',
  response: { id: 'x' },
  provider: 'github',
};

function authRoutes(): Route[] {
  return Object.keys(AUTH_PATHS).map((name) => {
    const { method, path } = routeOf(name);
    return { method, path: `/api/auth${path}` };
  });
}

/** Query parameters for every route. */
function queryOf({ key, request }: Belongings): string {
  const range = { from: String(Date.now() - 2 * DAY_MS), to: String(Date.now() + DAY_MS) };
  return new URLSearchParams({ ...range, key, before: request, planId: 'pro', page: 'usage' }).toString();
}

/** Reads everything that a person owns. */
async function look(browser: TestBrowser): Promise<Record<string, unknown>> {
  const paths = [
    'keys',
    'alerts',
    'usage/views?page=usage',
    'settings/passkeys',
    'settings/linked-accounts',
    'billing/payments',
    'billing/cards',
    'plans',
    'requests/logging',
    'requests/exports',
  ];
  const seen = await Promise.all(paths.map(async (path) => [path, await (await browser.get(`/api/${path}`)).json()] as const));
  return Object.fromEntries(seen);
}
