import { createOTP } from '@better-auth/utils/otp';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { jsonOf, secretIn } from './answers.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
  });
  afterAll(() => dashboard.end());

  test('with a second factor the password alone is not enough, and a recovery code works once', async () => {
    const email = 'factor@example.com';
    const browser = await dashboard.signedUp(email);
    expect((await browser.send('POST', '/api/settings/two-factor', { password: 'wrong password' })).status).toBe(400);
    const begun = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    expect(begun['svg']).toStartWith('<svg');
    const secret = secretIn(String(begun['uri']));
    const code = (): Promise<string> => createOTP(secret).totp();
    expect((await jsonOf(await browser.get('/api/settings')))['hasTwoFactor']).toBe(false);
    expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code: '000000' })).status).toBe(401);
    const before = browser.cookies.get('tollgate.session_token');
    const earlier = dashboard.browser();
    await earlier.signIn(email);
    expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code: await code() })).status).toBe(200);
    expect(browser.cookies.get('tollgate.session_token')).not.toBe(before);
    expect((await jsonOf(await browser.get('/api/settings')))['hasTwoFactor']).toBe(true);

    // It began without the second factor.
    expect((await earlier.get('/api/account')).status).toBe(401);
    const other = dashboard.browser();
    expect(await jsonOf(await other.signIn(email))).toMatchObject({ twoFactorRedirect: true });
    expect((await other.get('/api/account')).status).toBe(401);
    expect((await other.send('POST', '/api/auth/two-factor/verify-totp', { code: await code() })).status).toBe(200);
    expect((await other.get('/api/account')).status).toBe(200);

    const [recovery] = begun['recoveryCodes'] as string[];
    for (const [tries, status] of [
      [1, 200],
      [2, 401],
    ] as const) {
      const lost = dashboard.browser();
      await lost.signIn(email);
      const answer = await lost.send('POST', '/api/auth/two-factor/verify-backup-code', { code: recovery });
      expect([tries, answer.status]).toEqual([tries, status]);
    }
    expect((await browser.send('POST', '/api/auth/two-factor/disable', { password: PASSWORD })).status).toBe(200);
    expect((await dashboard.browser().signIn(email)).status).toBe(200);
  });

  test('an authenticator code completes only one sign-in, even of two at the same moment', async () => {
    const email = 'overlooked@example.com';
    const browser = await dashboard.signedUp(email);
    const { uri } = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    const code = await createOTP(secretIn(String(uri))).totp();
    expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code })).status).toBe(200);
    const others = [dashboard.browser(), dashboard.browser(), dashboard.browser()];
    for (const other of others) await other.signIn(email);
    const verify = async (other: TestBrowser): Promise<number> =>
      (await other.send('POST', '/api/auth/two-factor/verify-totp', { code })).status;
    const [first, second, late] = others as [TestBrowser, TestBrowser, TestBrowser];
    expect(new Set(await Promise.all([verify(first), verify(second)]))).toEqual(new Set([200, 401]));
    expect(await verify(late)).toBe(401);
    const statuses = await Promise.all(others.map(async (other) => (await other.get('/api/account')).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const { sessions } = await jsonOf(await browser.get('/api/settings/sessions'));
    expect(sessions).toHaveLength(2);
  });
});
