import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { errorOf, jsonOf } from './answers.ts';
import { Authenticator } from './authenticator.ts';
import { openDashboard, ORIGIN, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

async function challengeOf(response: Response): Promise<string> {
  return String((await jsonOf(response))['challenge']);
}

async function add(browser: TestBrowser, authenticator: Authenticator): Promise<Response> {
  const challenge = await challengeOf(await browser.get('/api/auth/passkey/generate-register-options'));
  return browser.send('POST', '/api/auth/passkey/verify-registration', { response: authenticator.create(challenge) });
}

async function signIn(browser: TestBrowser, authenticator: Authenticator): Promise<Response> {
  const challenge = await challengeOf(await browser.get('/api/auth/passkey/generate-authenticate-options'));
  return browser.send('POST', '/api/auth/passkey/verify-authentication', { response: authenticator.get(challenge) });
}

describeStores((makeStore) => {
  describe('a passkey', () => {
    let dashboard: TestDashboard;

    beforeAll(async () => {
      dashboard = await openDashboard(await makeStore());
    });
    afterAll(() => dashboard.end());

    test('that verifies its holder signs them in', async () => {
      const authenticator = new Authenticator(ORIGIN, true);
      const owner = await dashboard.signedUp('fingers@example.com');
      expect((await add(owner, authenticator)).status).toBe(200);
      const browser = dashboard.browser();
      expect((await signIn(browser, authenticator)).status).toBe(200);
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ email: 'fingers@example.com' });
    });

    test.each([{ id: 1 }, { id: { $ne: 'x' } }, { id: ['x'] }, {}])('without an id that is text (%j) is refused', async (response) => {
      const browser = dashboard.browser();
      await browser.get('/api/auth/passkey/generate-authenticate-options');
      const refused = await browser.send('POST', '/api/auth/passkey/verify-authentication', { response });
      expect([refused.status, await errorOf(refused)]).toMatchObject([400, { field: 'response.id' }]);
    });

    test('must verify its holder and be discoverable', async () => {
      const owner = await dashboard.signedUp('asked@example.com');
      expect(await jsonOf(await owner.get('/api/auth/passkey/generate-register-options'))).toMatchObject({
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    });

    test('that only checks for a touch is refused, because anyone who finds it could sign in', async () => {
      const owner = await dashboard.signedUp('pocket@example.com');
      const refused = await add(owner, new Authenticator(ORIGIN, false));
      expect(refused.status).toBe(400);
      expect(await errorOf(refused)).toMatchObject({ code: 'passkey_not_verified', message: expect.stringContaining('PIN') });
    });

    test('must verify its holder at every sign-in, not only when it is added', async () => {
      const owner = await dashboard.signedUp('later@example.com');
      const authenticator = new Authenticator(ORIGIN, true);
      await add(owner, authenticator);
      const browser = dashboard.browser();
      authenticator.isVerifying = false;
      const refused = await signIn(browser, authenticator);
      expect(refused.status).toBe(400);
      expect((await browser.get('/api/account')).status).toBe(401);
    });
  });
});
