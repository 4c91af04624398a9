import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { sql } from 'kysely';
import { readAudit } from '../../src/accounts/audit.ts';
import { Invitations } from '../../src/accounts/invitations.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { IdentityProvider } from '../simulator/identity-provider.ts';
import { jsonOf, OTHER_PASSWORD, printedToken, secretIn, tokenOf } from './answers.ts';
import { insertPasskey } from './belongings.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { openDashboard, PASSWORD, type TestDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';
import { ownProvider, pathOf, identityOf, Traveller } from './traveller.ts';

async function shapeOf(response: Response): Promise<unknown> {
  const { isSignedIn, user } = (await response.json()) as { isSignedIn: boolean; user: Record<string, unknown> };
  return { isSignedIn, keys: Object.keys(user), emailVerified: user['emailVerified'], accountId: user['accountId'] };
}

describeStores((makeStore) => {
  describe('with email', () => {
    let mailbox: Mailbox;
    let dashboard: TestDashboard;

    beforeAll(async () => {
      mailbox = await openMailbox();
      dashboard = await openDashboard(await makeStore(), { settings: { smtpUrl: mailbox.url } });
    });
    afterAll(async () => {
      await dashboard.end();
      await mailbox.close();
    });

    test('the link in the verification email signs a new person in, with one click in the same browser', async () => {
      const email = 'link@example.com';
      const browser = dashboard.browser();
      expect((await browser.signUp(email)).status).toBe(200);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect((await browser.signIn(email)).status).toBe(403);
      const token = tokenOf(await mailbox.nextLink(email));
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toEqual({ state: 'verified', email });
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ email, isEmailVerified: true });
    });

    test('a stranger who signs up with my address gets no access when I open the link', async () => {
      const email = 'victim@example.com';
      const [stranger, victim] = [dashboard.browser(), dashboard.browser()];
      await stranger.signUp(email, "stranger's password");
      const token = tokenOf(await mailbox.nextLink(email));
      expect(await jsonOf(await victim.send('POST', '/api/verification', { token }))).toEqual({ state: 'password_needed', email });
      expect((await victim.send('POST', '/api/verification', { token, password: PASSWORD })).status).toBe(400);
      expect((await stranger.signIn(email, "stranger's password")).status).toBe(403);
      // The owner of the mailbox takes over by resetting the password.
      await victim.send('POST', '/api/auth/request-password-reset', { email });
      const reset = tokenOf(await mailbox.nextLink(email));
      expect((await victim.send('POST', '/api/auth/reset-password', { token: reset, newPassword: PASSWORD })).status).toBe(200);
      expect(await mailbox.next(email)).toContain('all API keys were disabled');
      expect((await victim.signIn(email)).status).toBe(200);
      expect((await stranger.signIn(email, "stranger's password")).status).toBe(401);
    });

    test('a stranger who signed up with my address before me gets no access either', async () => {
      const email = 'second@example.com';
      const [stranger, victim] = [dashboard.browser(), dashboard.browser()];
      await stranger.signUp(email, "stranger's password");
      const token = tokenOf(await mailbox.nextLink(email));
      await victim.signUp(email);
      expect(await jsonOf(await victim.send('POST', '/api/verification', { token }))).toEqual({ state: 'password_needed', email });
      expect((await stranger.signIn(email, "stranger's password")).status).toBe(403);
    });

    test('changing the address requires a recent sign-in, and the old address is notified', async () => {
      const [before, after] = ['moving@example.com', 'moved@example.com'];
      const browser = dashboard.browser();
      await browser.signUp(before);
      await browser.send('POST', '/api/verification', { token: tokenOf(await mailbox.nextLink(before)) });
      const change = (): Promise<Response> => browser.send('POST', '/api/auth/change-email', { newEmail: after });
      const { kysely } = dashboard.dependencies.database;
      const person = await kysely.selectFrom('people').select('id').where('email', '=', before).executeTakeFirstOrThrow();
      const signedInAt = (ageMs: number) =>
        kysely
          .updateTable('sessions')
          .set({ created_at: new Date(Date.now() - ageMs).toISOString() } as never)
          .where('person_id', '=', person.id)
          .execute();
      await signedInAt(61 * 60_000);
      expect((await change()).status).toBe(403);
      await signedInAt(0);
      expect((await change()).status).toBe(200);
      const token = tokenOf(await mailbox.nextLink(after));
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toEqual({ state: 'verified', email: after });
      expect(await mailbox.next(before)).toContain('Your email address was changed');
    });

    test('the verification link works in another browser with the password', async () => {
      const email = 'phone@example.com';
      await dashboard.browser().signUp(email);
      const phone = dashboard.browser();
      const token = tokenOf(await mailbox.nextLink(email));
      expect(await jsonOf(await phone.send('POST', '/api/verification', { token, password: PASSWORD }))).toMatchObject({
        state: 'verified',
      });
      expect((await phone.get('/api/account')).status).toBe(200);
    });

    test('signing up with a known address looks like a new sign-up, and its owner gets an email', async () => {
      const email = 'known@example.com';
      const owner = dashboard.browser();
      await owner.signUp(email);
      await owner.send('POST', '/api/verification', { token: tokenOf(await mailbox.nextLink(email)) });
      const again = await dashboard.browser().signUp(email, OTHER_PASSWORD);
      const fresh = await dashboard.browser().signUp('fresh@example.com', OTHER_PASSWORD);
      expect(again.status).toBe(fresh.status);
      expect(await shapeOf(again)).toEqual(await shapeOf(fresh));
      expect(again.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual(
        fresh.headers.getSetCookie().map((cookie) => cookie.split('=')[0]),
      );
      expect(await mailbox.next(email)).toContain('it already has an account');
      expect((await dashboard.browser().signIn(email, OTHER_PASSWORD)).status).toBe(401);
    });

    test('sign-ups from any network cannot flood an address with emails', async () => {
      const email = 'flooded@example.com';
      const signUp = async (index: number): Promise<number> => (await dashboard.browser(`203.0.113.${index}`).signUp(email)).status;
      expect(await Promise.all([1, 2, 3, 4, 5].map(signUp))).not.toContain(429);
      expect(await signUp(6)).toBe(429);
      const ask = async (path: string): Promise<number> => (await dashboard.browser().send('POST', `/api/auth/${path}`, { email })).status;
      expect(await ask('send-verification-email')).toBe(429);
      // The owner of the address still gets the account.
      expect(await ask('request-password-reset')).toBe(200);
    });

    test('a password change is reported by email', async () => {
      const email = 'told@example.com';
      const browser = dashboard.browser();
      await browser.signUp(email);
      await browser.send('POST', '/api/verification', { token: tokenOf(await mailbox.nextLink(email)) });
      const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      expect((await browser.send('POST', '/api/auth/change-password', change)).status).toBe(200);
      expect(await mailbox.next(email)).toContain('Your password was changed');
    });

    test('a reset for an unknown address looks like any other, and sends no email', async () => {
      await dashboard.browser().signUp('resets@example.com');
      await mailbox.next('resets@example.com');
      const ask = (email: string): Promise<Response> => dashboard.browser().send('POST', '/api/auth/request-password-reset', { email });
      const [known, unknown] = [await ask('resets@example.com'), await ask('nobody@example.com')];
      expect([known.status, await known.text()]).toEqual([unknown.status, await unknown.text()]);
      await mailbox.next('resets@example.com');
      expect(mailbox.emails.some((email) => email.includes('nobody@example.com'))).toBe(false);
    });
  });

  test('a person whose provider verified their address signs in without a verification email', async () => {
    const [store, mailbox, provider] = await Promise.all([makeStore(), openMailbox(), IdentityProvider.start()]);
    const dashboard = await openDashboard(store, { settings: { smtpUrl: mailbox.url, signInProviders: [ownProvider(provider)] } });
    const browser = dashboard.browser();
    const traveller = new Traveller(provider);
    expect(pathOf(await traveller.go(browser, identityOf('letterless')))).toBe('/welcome?new=true');
    expect((await browser.get('/api/account')).status).toBe(200);
    // Someone who signed up with this address and has not verified it yet gets instructions.
    await dashboard.browser().signUp('waiting@example.com');
    await mailbox.next('waiting@example.com');
    expect(pathOf(await traveller.go(dashboard.browser(), identityOf('waiting')))).toContain('error=own_address_not_verified');
    expect(mailbox.emails).toHaveLength(1);
    await dashboard.close();
    await Promise.all([mailbox.close(), provider.stop(), store.remove()]);
  });

  test('an account belongs to the owner of its address after a password reset, without anything that a stranger has set up', async () => {
    const provider = await IdentityProvider.start();
    const settings = { signUpCreditUsd: '5', signInProviders: [ownProvider(provider)] };
    const dashboard = await openDashboard(await makeStore(), { settings });
    const { kysely } = dashboard.dependencies.database;
    const traveller = new Traveller(provider);
    const stranger = await dashboard.signedUp('owner@example.com');
    const { id: accountId } = await jsonOf(await stranger.get('/api/account'));
    await stranger.send('POST', '/api/auth/change-email', { newEmail: 'elsewhere@example.com' });
    const [elsewhere, askedAtMs] = [printedToken(dashboard, 'elsewhere@example.com'), Date.now()];
    await traveller.go(stranger, identityOf('stranger'), { path: '/link-social' });
    await insertPasskey(dashboard, 'owner@example.com');
    const { uri } = await jsonOf(await stranger.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    const code = await createOTP(secretIn(String(uri))).totp();
    expect((await stranger.send('POST', '/api/auth/two-factor/verify-totp', { code })).status).toBe(200);
    const { id: keyId, secret } = await jsonOf(await stranger.send('POST', '/api/keys', { name: 'a key' }));
    const { secret: playground } = await jsonOf(await stranger.send('POST', '/api/playground/key'));
    await stranger.send('PUT', '/api/alerts/webhook', { url: 'https://hooks.example.com/' });
    await stranger.send('POST', '/api/requests/exports', { from: Date.now() - 3_600_000, to: Date.now() });
    await kysely.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', String(accountId)).execute();
    const invitations = new Invitations(kysely);
    const operatorLink = await invitations.create({ kind: 'operator', email: undefined, lifeMs: 60_000 });
    // Links name the second in which they were sent.
    await Bun.sleep(Math.max(0, askedAtMs + 1000 - Date.now()));

    const owner = dashboard.browser();
    await owner.send('POST', '/api/auth/request-password-reset', { email: 'owner@example.com' });
    const token = printedToken(dashboard, 'owner@example.com');
    const insisting = Array.from({ length: 4 }, async () => {
      while ((await stranger.send('PUT', '/api/alerts/webhook', { url: 'https://hooks.example.com/' })).ok);
    });
    expect((await owner.send('POST', '/api/auth/reset-password', { token, newPassword: OTHER_PASSWORD })).status).toBe(200);
    await Promise.all(insisting);
    expect((await stranger.get('/api/account')).status).toBe(401);
    expect((await owner.signIn('owner@example.com', OTHER_PASSWORD)).status).toBe(200);
    expect(await jsonOf(await owner.get('/api/settings/linked-accounts'))).toMatchObject({ linked: [] });
    expect(await jsonOf(await owner.get('/api/settings/passkeys'))).toEqual({ passkeys: [] });
    expect(await jsonOf(await owner.get('/api/account'))).toMatchObject({ isEmailVerified: true, hasTwoFactor: false, balanceUsd: '5' });
    expect(await jsonOf(await owner.get('/api/account'))).toMatchObject({ isOperator: false });
    expect(await invitations.find(operatorLink)).toMatchObject({ state: 'expired' });
    expect(await jsonOf(await owner.get('/api/alerts'))).toMatchObject({ webhook: null });
    expect(await jsonOf(await owner.get('/api/requests/exports'))).toMatchObject({ exports: [] });
    const keys = new Keys(kysely);
    expect(await keys.findHolder(hashSecret(String(secret)))).toMatchObject({ isDisabled: true });
    expect(await keys.findHolder(hashSecret(String(playground)))).toBeUndefined();
    expect((await readAudit(kysely, String(keyId), 1))[0]).toMatchObject({
      actor: 'owner@example.com',
      changes: [{ field: 'isDisabled', before: false, after: true }],
    });
    const counts = { sessions: 1, linked: 1, passkeys: 1, secondFactor: 1, keys: 2, webhook: 1, exports: 1 };
    expect((await readAudit(kysely, String(accountId), 9)).findLast(({ action }) => action === 'account.remove_access')).toMatchObject({
      action: 'account.remove_access',
      changes: [
        ...Object.entries(counts).map(([field, before]) => ({ field, before, after: 0 })),
        { field: 'operator', before: true, after: false },
        { field: 'operatorLinks', before: 1, after: 0 },
      ],
    });
    // The stranger may send the owner a link to the address that the account was to move to.
    expect((await owner.send('POST', '/api/verification', { token: elsewhere })).status).toBe(400);
    expect(await jsonOf(await owner.get('/api/account'))).toMatchObject({ email: 'owner@example.com' });
    expect((await owner.send('POST', '/api/playground/key')).status).toBe(201);
    expect(pathOf(await traveller.go(owner, identityOf('owner')))).toBe('/welcome');
    await dashboard.end();
    await provider.stop();
  });

  test('a verification link does not replace the second factor', async () => {
    const email = 'twofold@example.com';
    const dashboard = await openDashboard(await makeStore());
    const browser = await dashboard.signedUp(email);
    const { uri } = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    const code = await createOTP(secretIn(String(uri))).totp();
    expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code })).status).toBe(200);
    await browser.send('POST', '/api/auth/send-verification-email', { email });
    const other = dashboard.browser();
    const link = { token: printedToken(dashboard, email), password: PASSWORD };
    expect(await jsonOf(await other.send('POST', '/api/verification', link))).toEqual({ state: 'verified', email });
    expect((await other.get('/api/account')).status).toBe(401);
    expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ isEmailVerified: true });
    await dashboard.end();
  });

  test('a reset ends every session even if what follows it fails', async () => {
    const email = 'halfway@example.com';
    const store = await makeStore();
    const dashboard = await openDashboard(store);
    const browser = await dashboard.signedUp(email);
    await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email });
    const body = { token: printedToken(dashboard, email), newPassword: OTHER_PASSWORD };
    await sql`DROP TABLE audit`.execute(dashboard.dependencies.database.kysely);
    expect((await dashboard.browser().send('POST', '/api/auth/reset-password', body)).status).toBe(500);
    expect((await browser.get('/api/account')).status).toBe(401);
    expect(dashboard.failures).toHaveLength(1);
    await dashboard.close();
    await store.remove();
  });

  describe('where sign-up requires an invitation', () => {
    test('an invitation admits only its recipient, once, and is shown as used afterwards', async () => {
      const dashboard = await openDashboard(await makeStore(), { settings: { signUp: 'invite' } });
      const invitations = new Invitations(dashboard.dependencies.database.kysely);
      const token = await invitations.create({ kind: 'person', email: 'guest@example.com', lifeMs: 60_000 });
      const signUp = (email: string, invitation?: string): Promise<Response> =>
        dashboard.browser().send('POST', '/api/auth/sign-up/email', { email, password: PASSWORD, invitation });
      const look = async (): Promise<unknown> => (await dashboard.browser().get(`/api/invitations/${token}`)).json();
      expect((await signUp('guest@example.com')).status).toBe(403);
      expect(await look()).toEqual({ kind: 'person', state: 'open', email: 'guest@example.com' });
      expect((await signUp('other@example.com', token)).status).toBe(403);
      expect(await look()).toMatchObject({ state: 'open' });
      expect((await signUp('guest@example.com', token)).status).toBe(200);
      expect(await look()).toMatchObject({ state: 'used' });
      expect((await signUp('guest2@example.com', token)).status).toBe(403);
      expect((await dashboard.browser().get('/api/invitations/nothing')).status).toBe(404);
      await dashboard.end();
    });

    test('an invitation can be used again after a failed sign-up', async () => {
      const store = await makeStore();
      const dashboard = await openDashboard(store, { settings: { signUp: 'invite' } });
      const { auth, database } = dashboard.dependencies;
      const invitation = await new Invitations(database.kysely).create({ kind: 'person', email: undefined, lifeMs: 60_000 });
      const signUp = (): Promise<Response> =>
        dashboard.browser().send('POST', '/api/auth/sign-up/email', { email: 'guest@example.com', password: PASSWORD, invitation });
      const broken = spyOn(auth.library, 'handler').mockRejectedValueOnce(new Error('the database is away'));
      expect((await signUp()).status).toBe(500);
      broken.mockRestore();
      expect((await signUp()).status).toBe(200);
      expect(dashboard.failures).toHaveLength(1);
      await dashboard.close();
      await store.remove();
    });

    test('sign-up is refused where it is closed', async () => {
      const dashboard = await openDashboard(await makeStore(), { settings: { signUp: 'closed' } });
      expect((await dashboard.browser().signUp('late@example.com')).status).toBe(403);
      await dashboard.end();
    });
  });
});
