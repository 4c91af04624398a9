import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { passwordHashing } from '../../src/dashboard/auth/hashing.ts';
import { errorOf, jsonOf, secretIn } from './answers.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

describeStores((makeStore) => {
  let dashboard: TestDashboard;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
  });
  afterAll(() => dashboard.end());

  describe('guessing', () => {
    test('is blocked after ten attempts at an account, even with the right password, while others can sign in', async () => {
      await dashboard.signedUp('guessed@example.com');
      const guesser = dashboard.browser('203.0.113.9');
      for (let tries = 0; tries < 10; tries += 1)
        expect((await guesser.signIn('guessed@example.com', `wrong password ${tries}`)).status).toBe(401);
      const stopped = await guesser.signIn('guessed@example.com');
      expect(stopped.status).toBe(429);
      expect(stopped.headers.get('retry-after')).toMatch(/^(?:900|89\d)$/u);
      expect((await errorOf(stopped)).message).toBe('Too many attempts. Try again in 15 minutes.');
      const liar = await guesser.send(
        'POST',
        '/api/auth/sign-in/email',
        { email: 'guessed@example.com', password: PASSWORD },
        { 'x-forwarded-for': '8.8.8.8' },
      );
      expect(liar.status).toBe(429);
      expect((await dashboard.browser().signIn('guessed@example.com')).status).toBe(200);
    });

    test('has to wait twice as long the next time', async () => {
      const { limits } = dashboard.dependencies.auth;
      const { kysely } = dashboard.dependencies.database;
      const rule = { kind: 'test', max: 2, windowMs: 60_000 };
      const waitMs = async (): Promise<number> => {
        for (let tries = 0; tries < 3; tries += 1) await limits.admit([[rule, 'somebody']]).catch(() => undefined);
        const rows = await kysely.selectFrom('auth_rate_limits').selectAll().where('name', 'like', 'test:%').execute();
        const endsAtMs = Number(rows[0]?.window_ends_at);
        await kysely.updateTable('auth_rate_limits').set({ window_ends_at: 1 }).where('name', 'like', 'test:%').execute();
        return Math.round((endsAtMs - Date.now()) / 60_000);
      };
      expect([await waitMs(), await waitMs(), await waitMs()]).toEqual([1, 2, 4]);
      for (let times = 0; times < 5; times += 1) await waitMs();
      expect(await waitMs()).toBe(32);
      // A window within the limit resets the doubling.
      await limits.admit([[rule, 'somebody']]);
      await kysely.updateTable('auth_rate_limits').set({ window_ends_at: 1 }).where('name', 'like', 'test:%').execute();
      expect(await waitMs()).toBe(1);
    });

    test('counts every attempt, even if many arrive at once', async () => {
      const { limits } = dashboard.dependencies.auth;
      const rule = { kind: 'burst', max: 5, windowMs: 60_000 };
      const tries = await Promise.allSettled(Array.from({ length: 20 }, () => limits.admit([[rule, 'crowd']])));
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    });

    test('tries no more than ten codes for an account, even if many arrive at once from everywhere', async () => {
      const email = 'besieged@example.com';
      const browser = await dashboard.signedUp(email);
      const { uri } = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
      const code = (): Promise<string> => createOTP(secretIn(String(uri))).totp();
      expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code: await code() })).status).toBe(200);
      const guessers = Array.from({ length: 15 }, () => dashboard.browser());
      for (const guesser of guessers) await guesser.signIn(email);
      const statuses = await Promise.all(
        guessers.map((guesser, index) => verify(guesser, index % 2 === 0 ? 'totp' : 'backup-code', 'wrong!')),
      );
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);
      const late = dashboard.browser();
      await late.signIn(email);
      expect(await verify(late, 'totp', await code())).toBe(429);
    });

    test('is limited to a number of sign-ups per network, whichever addresses are used', async () => {
      const answers = [];
      for (let index = 0; index < 21; index += 1)
        answers.push((await dashboard.browser(`2001:db8:7:7::${index.toString(16)}`).signUp(`farm${index}@example.com`)).status);
      expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 200));
      expect(answers[20]).toBe(429);
    });

    test('is limited to a number of emails per address', async () => {
      const statuses = [];
      for (let index = 0; index < 6; index += 1)
        statuses.push(
          (await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email: 'flooded@example.com' })).status,
        );
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });

    test('learns nothing about an address from the response or its timing', async () => {
      // Real hashing: it takes so long that leaving it out for an unknown address would show.
      const real = await openDashboard(await makeStore(), { hashing: passwordHashing });
      await real.signedUp('timed@example.com');
      const [known, unknown]: [number[], number[]] = [[], []];
      for (let round = 0; round < 4; round += 1)
        for (const [email, times] of [
          ['timed@example.com', known],
          [`nobody${round}@example.com`, unknown],
        ] as const) {
          const beganAtMs = performance.now();
          const response = await real.browser().signIn(email, 'not the password');
          times.push(performance.now() - beganAtMs);
          expect([response.status, await errorOf(response)]).toEqual([
            401,
            { code: 'invalid_email_or_password', message: 'Wrong email address or password.' },
          ]);
        }
      // The shortest of each: a busy machine only ever adds time.
      const ratio = Math.min(...known) / Math.min(...unknown);
      expect(ratio).toBeGreaterThan(0.3);
      expect(ratio).toBeLessThan(3);
      await real.end();
    });

    test('is made harder by refusing weak passwords', async () => {
      for (const password of ['password123', '1234567890', 'qwertyuiop', 'short', 'P@ssw0rd2024', 'x'.repeat(257), 'lazybones@example.com'])
        expect([password, (await dashboard.browser().signUp('lazybones@example.com', password)).status]).toEqual([password, 400]);
    });
  });
});

async function verify(browser: TestBrowser, kind: 'totp' | 'backup-code', code: string): Promise<number> {
  return (await browser.send('POST', `/api/auth/two-factor/verify-${kind}`, { code })).status;
}
