import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CLIENT, IdentityProvider } from '../simulator/identity-provider.ts';
import { errorOf, jsonOf } from './answers.ts';
import { openDashboard, ORIGIN, type TestDashboard } from './open-dashboard.ts';
import { makeSqlite } from './stores.ts';
import { endOf, ownProvider, pathOf, identityOf, Traveller } from './traveller.ts';

let provider: IdentityProvider;
let traveller: Traveller;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  traveller = new Traveller(provider);
});
beforeEach(() => {
  provider.fault = undefined;
  provider.isEmailOnlyInUserInfo = false;
});
afterAll(() => provider.stop());

describe('a misbehaving provider', () => {
  let dashboard: TestDashboard;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const store = await makeSqlite();
    dashboard = await openDashboard(store, { settings: { signInProviders: [ownProvider(provider)] } });
    remove = () => store.remove();
  });
  afterAll(async () => {
    await dashboard.close();
    await remove();
  });

  test.each([
    ['denies', 'access_denied'],
    ['refuses the code', 'invalid_code'],
    ['signs with another key', 'unable_to_get_user_info'],
    ['forgets the nonce', 'unable_to_get_user_info'],
    ['sends no id token', 'unable_to_get_user_info'],
    ['tells about somebody else', 'unable_to_get_user_info'],
  ] as const)('that %s leads to an error on the sign-in page, without a session', async (fault, error) => {
    const browser = dashboard.browser();
    await traveller.go(browser, identityOf('warm'));
    provider.fault = fault;
    const there = dashboard.browser();
    expect(pathOf(await traveller.go(there, identityOf('tricked')))).toBe(`/sign-in?with=oidc&error=${error}`);
    expect((await there.get('/api/account')).status).toBe(401);
  });

  test('that returns a foreign, unknown or used state leads to an error on the sign-in page', async () => {
    const [mine, theirs] = [dashboard.browser(), dashboard.browser()];
    const path = await traveller.leave(mine, identityOf('replay'));
    expect(pathOf(endOf(await theirs.get(path)))).toContain('error=state_mismatch');
    expect(pathOf(endOf(await mine.get(path)))).toBe('/welcome?new=true');
    expect(pathOf(endOf(await mine.get(path)))).toContain('error=state_mismatch');
    expect(pathOf(endOf(await theirs.get('/api/auth/callback/oidc?code=x')))).toContain('error=state_not_found');
    expect(pathOf(endOf(await theirs.get('/api/auth/callback/github?code=x&state=y')))).toBe('/sign-in?with=github&error=unreachable');
    expect((await theirs.get('/api/account')).status).toBe(401);
  });

  test.each(['is broken', 'has another name'] as const)('that %s shows an error, while other ways to sign in work', async (fault) => {
    const store = await makeSqlite();
    const cold = await openDashboard(store, { settings: { signInProviders: [ownProvider(provider)] } });
    provider.fault = fault;
    const browser = cold.browser();
    const refused = await browser.send('POST', '/api/auth/sign-in/social', { provider: 'oidc' });
    expect([refused.status, (await errorOf(refused)).message]).toEqual([503, expect.stringContaining('Acme does not answer')]);
    expect((await browser.signUp('meanwhile@example.com')).status).toBe(200);
    expect(cold.failures).toHaveLength(1);
    provider.fault = undefined;
    expect(pathOf(await traveller.go(cold.browser(), identityOf('afterwards')))).toBe('/welcome?new=true');
    await cold.close();
    await store.remove();
  });

  test('cannot redirect to another site, and clients cannot choose the return address', async () => {
    for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:alert(1)'])
      expect((await dashboard.browser().send('POST', '/api/auth/sign-in/social', { provider: 'oidc', to })).status).toBe(400);
    const body = {
      callbackURL: 'https://evil.example',
      errorCallbackURL: 'https://evil.example',
      newUserCallbackURL: 'https://evil.example',
    };
    expect(pathOf(await traveller.go(dashboard.browser(), identityOf('steered'), { body }))).toBe('/welcome?new=true');
  });

  test('is rate-limited per network, on the way there and back', async () => {
    const browser = dashboard.browser();
    for (let count = 0; count < 200; count += 1) await browser.get('/api/auth/callback/oidc?code=x');
    expect(pathOf(endOf(await browser.get('/api/auth/callback/oidc?code=x')))).toBe('/sign-in?with=oidc&error=too_many');
    expect((await browser.send('POST', '/api/auth/sign-in/social', { provider: 'oidc' })).status).toBe(429);
  });
});

describe('GitHub and Google', () => {
  test.each([
    ['github', 'https://github.com/login/oauth/authorize', 'read:user user:email'],
    ['google', 'https://accounts.google.com/o/oauth2/v2/auth', 'email profile openid'],
  ] as const)('%s has a button and gets our client id, scope, state, PKCE challenge and return address', async (id, address, scope) => {
    const known = { id, name: id, issuer: undefined, ...CLIENT };
    const dashboard = await openDashboard(await makeSqlite(), { settings: { signInProviders: [known] } });
    const browser = dashboard.browser();
    expect(await jsonOf(await browser.get('/api/setup'))).toMatchObject({ providers: [{ id, name: id }] });
    const begun = await browser.send('POST', '/api/auth/sign-in/social', { provider: id });
    const text = await begun.text();
    expect(text).not.toContain(CLIENT.clientSecret);
    const url = new URL((JSON.parse(text) as { url: string }).url);
    expect(url.origin + url.pathname).toBe(address);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: CLIENT.clientId,
      response_type: 'code',
      redirect_uri: `${ORIGIN}/api/auth/callback/${id}`,
      scope,
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'code_challenge']) expect((url.searchParams.get(name) ?? '').length).toBeGreaterThanOrEqual(32);
    expect((await browser.send('POST', '/api/auth/sign-in/social', { provider: 'oidc' })).status).toBe(404);
    await dashboard.end();
  });

  test('have no button and no routes if they are not configured', async () => {
    const dashboard = await openDashboard(await makeSqlite());
    expect(await jsonOf(await dashboard.browser().get('/api/setup'))).toMatchObject({ providers: [] });
    for (const path of ['/callback/github', '/callback/google', '/callback/oidc'])
      expect((await dashboard.browser().get(`/api/auth${path}?code=x&state=y`)).status).toBe(404);
    await dashboard.end();
  });
});
