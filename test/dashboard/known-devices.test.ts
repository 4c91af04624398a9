import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { errorOf, jsonOf, printedToken, secretIn } from './answers.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

const HOUR_MS = 3_600_000;
const COOKIE = 'tollgate.device';

describeStores((makeStore) => {
  let dashboard: TestDashboard;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
  });
  afterAll(() => dashboard.end());

  test('strangers who use up the attempts at an address keep its owner out neither where they signed in before nor elsewhere', async () => {
    const known = await signedOut(dashboard, 'besieged@example.com');
    await useUpAttempts(dashboard, 'besieged@example.com');
    const elsewhere = dashboard.browser();
    const refused = await elsewhere.signIn('besieged@example.com');
    expect((await errorOf(refused)).message).toMatch(/^Too many attempts\. Try again in \d+ minutes, or set a new password\.$/u);
    expect((await known.signIn('besieged@example.com')).status).toBe(200);

    await askForReset(dashboard.browser(), 'besieged@example.com');
    const changed = { token: printedToken(dashboard, 'besieged@example.com'), newPassword: `${PASSWORD} 2` };
    expect((await elsewhere.send('POST', '/api/auth/reset-password', changed)).status).toBe(200);
    expect((await elsewhere.signIn('besieged@example.com', changed.newPassword)).status).toBe(200);
  });

  test('the wait that strangers cause does not grow', async () => {
    const { kysely } = dashboard.dependencies.database;
    for (let times = 0; times < 3; times += 1) {
      const { headers } = await useUpAttempts(dashboard, 'waiting@example.com');
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(HOUR_MS / 1000);
      await kysely.updateTable('auth_rate_limits').set({ window_ends_at: 1 }).execute();
    }
  });

  test('while a link for a new password is refused, one of those that were sent still works', async () => {
    const stranger = dashboard.browser();
    for (let times = 0; times < 5; times += 1) expect(await sendVerification(stranger, 'mailed@example.com')).toBe(200);
    expect(await sendVerification(stranger, 'mailed@example.com')).toBe(429);
    for (let times = 0; times < 5; times += 1) expect((await askForReset(stranger, 'mailed@example.com')).status).toBe(200);
    // Links are valid for an hour, and so is the window that began with the first of them. Of both, three minutes are left.
    const { kysely } = dashboard.dependencies.database;
    await kysely
      .updateTable('auth_rate_limits')
      .set({ window_ends_at: Date.now() + 170_000 })
      .execute();
    for (let times = 0; times < 3; times += 1) {
      const refused = await askForReset(dashboard.browser(), 'mailed@example.com');
      expect((await errorOf(refused)).message).toBe('Too many attempts. Try again in 3 minutes, or use the link in the last email.');
    }
  });

  test('a known device has as many attempts as a network, keeps its id, and is known for one address only', async () => {
    const known = await signedOut(dashboard, 'known@example.com');
    await dashboard.signedUp('other@example.com');
    const mark = known.cookies.get(COOKIE);
    for (let tries = 0; tries < 10; tries += 1) expect((await known.signIn('known@example.com', 'wrong password')).status).toBe(401);
    expect((await known.signIn('known@example.com')).status).toBe(429);
    await dashboard.dependencies.database.kysely.deleteFrom('auth_rate_limits').execute();
    expect((await known.signIn('known@example.com')).status).toBe(200);
    expect(known.cookies.get(COOKIE)).toBe(String(mark));

    await useUpAttempts(dashboard, 'other@example.com');
    expect((await known.signIn('other@example.com')).status).toBe(429);
    known.cookies.set(
      COOKIE,
      String(mark).replace(/^./u, (letter) => (letter === 'A' ? 'B' : 'A')),
    );
    await useUpAttempts(dashboard, 'known@example.com');
    expect((await known.signIn('known@example.com')).status).toBe(429);
  });

  test('a device is known only once the second factor was passed too', async () => {
    const owner = await dashboard.signedUp('factored@example.com');
    const { uri } = await jsonOf(await owner.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    const code = (): Promise<string> => createOTP(secretIn(String(uri))).totp();
    await owner.send('POST', '/api/auth/two-factor/verify-totp', { code: await code() });
    const elsewhere = dashboard.browser();
    expect((await elsewhere.signIn('factored@example.com')).status).toBe(200);
    expect(elsewhere.cookies.has(COOKIE)).toBeFalse();
    expect((await elsewhere.send('POST', '/api/auth/two-factor/verify-totp', { code: await code() })).status).toBe(200);
    expect(elsewhere.cookies.has(COOKIE)).toBeTrue();
  });
});

/** Signs a person up and out again, in the browser that it returns. */
async function signedOut(dashboard: TestDashboard, email: string): Promise<TestBrowser> {
  const browser = await dashboard.signedUp(email);
  await browser.send('POST', '/api/auth/sign-out', {});
  expect([...browser.cookies.keys()]).toEqual([COOKIE]);
  return browser;
}

/** Tries wrong passwords from many networks. Returns the refusal of the last. */
async function useUpAttempts(dashboard: TestDashboard, email: string): Promise<Response> {
  for (let times = 0; times < 10; times += 1) {
    const stranger = dashboard.browser();
    for (let tries = 0; tries < 10; tries += 1) await stranger.signIn(email, 'wrong password');
  }
  const last = await dashboard.browser().signIn(email, 'wrong password');
  expect(last.status).toBe(429);
  return last;
}

function askForReset(browser: TestBrowser, email: string): Promise<Response> {
  return browser.send('POST', '/api/auth/request-password-reset', { email });
}

async function sendVerification(browser: TestBrowser, email: string): Promise<number> {
  return (await browser.send('POST', '/api/auth/send-verification-email', { email })).status;
}
