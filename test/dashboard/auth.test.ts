import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { Invitations } from '../../src/accounts/invitations.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { connect } from '../../src/database/connect.ts';
import { parseUsd, NO_MONEY } from '../../src/ledger/money.ts';
import { errorOf, jsonOf, OTHER_PASSWORD, printedToken } from './answers.ts';
import { openDashboard, PASSWORD, type TestDashboard } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';

describeStores((makeStore) => {
  describe('without email', () => {
    let store: Store;
    let dashboard: TestDashboard;

    beforeAll(async () => {
      store = await makeStore();
      dashboard = await openDashboard(store, { settings: { signUpCreditUsd: '5' } });
    });
    afterAll(() => dashboard.end());

    const accounts = (): Accounts => new Accounts(dashboard.dependencies.database.kysely);
    const creditOf = async (email: string): Promise<unknown> => {
      const browser = await dashboard.signedUp(email);
      await browser.send('POST', '/api/verification', { token: printedToken(dashboard, email) });
      const { balanceUsd } = await jsonOf(await browser.get('/api/account'));
      expect((await browser.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(200);
      return balanceUsd;
    };

    test('signing up starts a session and creates an account without credit', async () => {
      const browser = dashboard.browser();
      expect((await browser.get('/api/account')).status).toBe(401);
      expect(await jsonOf(await browser.signUp('ada@example.com'))).toMatchObject({ user: { email: 'ada@example.com' } });
      const account = await jsonOf(await browser.get('/api/account'));
      expect(account).toMatchObject({ email: 'ada@example.com', balanceUsd: '0', isEmailVerified: false, isOperator: false });
    });

    test('people can sign up while the gate is busy writing', async () => {
      const { kysely } = await connect(store);
      const over = new AbortController();
      const busy = (async () => {
        for (; !over.signal.aborted; await Bun.sleep(1))
          await kysely
            .updateTable('service_secrets')
            .set({ value: sql`value` })
            .execute();
      })();
      const answers = await Promise.all([1, 2, 3, 4].map((count) => dashboard.browser().signUp(`busy${count}@example.com`)));
      over.abort();
      await busy;
      await kysely.destroy();
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    });

    test('after signing out, the password signs in again', async () => {
      const browser = await dashboard.signedUp('grace@example.com');
      expect((await browser.send('POST', '/api/auth/sign-out')).status).toBe(200);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect((await browser.signIn('grace@example.com', 'not the password')).status).toBe(401);
      expect((await browser.signIn('Grace@Example.com')).status).toBe(200);
      expect((await browser.get('/api/account')).status).toBe(200);
    });

    test('the first key is created once, however often it is requested', async () => {
      const browser = await dashboard.signedUp('first@example.com');
      const answers = await Promise.all([1, 2, 3].map(() => browser.send('POST', '/api/account/first-key')));
      expect(answers.map((answer) => answer.status).toSorted((left, right) => left - right)).toEqual([200, 409, 409]);
      const { id } = await jsonOf(await browser.get('/api/account'));
      expect(await new Keys(dashboard.dependencies.database.kysely).list(String(id))).toHaveLength(1);
      expect((await browser.send('POST', '/api/account/first-key')).status).toBe(409);
    });

    test('an account from the command line goes once to the person who verified its address', async () => {
      const created = await accounts().create('early@example.com', false);
      if (created === undefined) throw new Error('The account was not created');
      await accounts().credit(created, parseUsd('7') ?? NO_MONEY, { reason: 'test', actor: 'test' });
      const browser = await dashboard.signedUp('early@example.com');
      const refused = await browser.get('/api/account');
      expect(refused.status).toBe(403);
      expect((await errorOf(refused)).message).toContain('Verify the address to use it');
      const token = printedToken(dashboard, 'early@example.com');
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toEqual({
        state: 'verified',
        email: 'early@example.com',
      });
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ id: created.id, balanceUsd: '12', isEmailVerified: true });
      // Verifying again is harmless and grants nothing more.
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toMatchObject({ state: 'verified' });
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ balanceUsd: '12' });
    });

    test("claiming an operator's account from the command line ends all sessions", async () => {
      const email = 'early-operator@example.com';
      await accounts().create(email, true);
      const browser = await dashboard.signedUp(email);
      const other = dashboard.browser();
      await other.signIn(email);
      await browser.send('POST', '/api/verification', { token: printedToken(dashboard, email) });
      for (const earlier of [browser, other]) expect((await earlier.get('/api/account')).status).toBe(401);
      await browser.signIn(email);
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ isOperator: true });
      const { kysely } = dashboard.dependencies.database;
      await kysely.updateTable('accounts').set({ is_admin: 0 }).where('email', '=', email).execute();
    });

    test('a verification link that we did not sign is refused', async () => {
      const browser = await dashboard.signedUp('forged@example.com');
      const token = printedToken(dashboard, 'forged@example.com');
      const [head, payload] = token.split('.');
      const other = Buffer.from(JSON.stringify({ email: 'ada@example.com', exp: 4_000_000_000 })).toString('base64url');
      for (const bad of [`${head}.${payload}.`, `${head}.${other}.${token.split('.')[2]}`, 'x', ''])
        expect((await browser.send('POST', '/api/verification', { token: bad })).status).toBe(400);
    });

    test('sign-up credit is granted once per mailbox, even after the account was deleted', async () => {
      expect(await creditOf('farmer.one@gmail.com')).toBe('5');
      expect(await creditOf('farmer.one@gmail.com')).toBe('0');
      expect(await creditOf('farmerone+two@googlemail.com')).toBe('0');
    });

    test('a new address takes effect when its owner opens the link, for the account too', async () => {
      const browser = await dashboard.signedUp('before@example.com');
      expect((await browser.send('POST', '/api/auth/change-email', { newEmail: 'after@example.com' })).status).toBe(200);
      const token = printedToken(dashboard, 'after@example.com');
      expect((await dashboard.browser().send('POST', '/api/verification', { token })).status).toBe(401);
      expect((await jsonOf(await browser.get('/api/account')))['email']).toBe('before@example.com');
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toEqual({
        state: 'verified',
        email: 'after@example.com',
      });
      expect(await jsonOf(await browser.send('POST', '/api/verification', { token }))).toMatchObject({ state: 'verified' });
      expect((await jsonOf(await browser.get('/api/account')))['email']).toBe('after@example.com');
      expect(await accounts().find('before@example.com')).toBeUndefined();
      expect(await accounts().find('after@example.com')).toBeDefined();
      expect((await dashboard.browser().signIn('after@example.com')).status).toBe(200);
    });

    test('a reset link works once and ends every session', async () => {
      const email = 'forgot@example.com';
      const browser = await dashboard.signedUp(email);
      expect((await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email })).status).toBe(200);
      const token = printedToken(dashboard, email);
      const reset = (password: string): Promise<Response> =>
        dashboard.browser().send('POST', '/api/auth/reset-password', { token, newPassword: password });
      expect((await reset('password123')).status).toBe(400);
      expect((await reset(OTHER_PASSWORD)).status).toBe(200);
      expect((await reset('yet another one')).status).toBe(400);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect((await dashboard.browser().signIn(email, PASSWORD)).status).toBe(401);
      expect((await dashboard.browser().signIn(email, OTHER_PASSWORD)).status).toBe(200);
    });

    test('a reset link is invalid after the password or the address has changed', async () => {
      const [email, moved] = ['twice@example.com', 'elsewhere@example.com'];
      const browser = await dashboard.signedUp(email);
      const request = async (): Promise<string> => {
        await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email });
        return printedToken(dashboard, email);
      };
      const reset = async (token: string): Promise<number> =>
        (await dashboard.browser().send('POST', '/api/auth/reset-password', { token, newPassword: OTHER_PASSWORD })).status;
      const [first, second] = [await request(), await request()];
      expect([await reset(second), await reset(first)]).toEqual([200, 400]);
      await browser.signIn(email, OTHER_PASSWORD);
      const third = await request();
      await browser.send('POST', '/api/auth/change-email', { newEmail: moved });
      expect((await browser.send('POST', '/api/verification', { token: printedToken(dashboard, moved) })).status).toBe(200);
      expect(await reset(third)).toBe(400);
    });

    test('a changed password ends the other sessions and renews this one', async () => {
      const email = 'change@example.com';
      const [here, there] = [await dashboard.signedUp(email), dashboard.browser()];
      await there.signIn(email);
      const before = here.cookies.get('tollgate.session_token');
      const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      expect((await here.send('POST', '/api/auth/change-password', { ...change, currentPassword: 'wrong password' })).status).toBe(400);
      expect((await here.send('POST', '/api/auth/change-password', change)).status).toBe(200);
      expect(here.cookies.get('tollgate.session_token')).not.toBe(before);
      expect((await here.get('/api/account')).status).toBe(200);
      expect((await there.get('/api/account')).status).toBe(401);
    });

    test('sessions are listed with their devices and can be ended one by one or all at once', async () => {
      const email = 'devices@example.com';
      const here = await dashboard.signedUp(email);
      const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
      const others = [dashboard.browser('198.51.100.7'), dashboard.browser()];
      await others[0]?.send('POST', '/api/auth/sign-in/email', { email, password: PASSWORD }, { 'user-agent': firefox });
      await others[1]?.signIn(email);
      const { sessions } = (await (await here.get('/api/settings/sessions')).json()) as {
        sessions: { id: string; device: string; address: string; isThisOne: boolean }[];
      };
      expect(sessions).toHaveLength(3);
      const found = sessions.find(({ device }) => device === 'Firefox on Linux');
      expect(found).toMatchObject({ address: '198.51.100.7', isThisOne: false });
      expect((await here.send('DELETE', `/api/settings/sessions/${found?.id}`)).status).toBe(200);
      expect((await others[0]?.get('/api/account'))?.status).toBe(401);
      expect((await here.send('DELETE', '/api/settings/sessions')).status).toBe(200);
      expect((await others[1]?.get('/api/account'))?.status).toBe(401);
      expect((await here.get('/api/account')).status).toBe(200);
    });

    test('settings are saved, and invalid values are refused', async () => {
      const browser = await dashboard.signedUp('chooser@example.com');
      const choice = { name: 'Émilie', zone: 'Europe/Paris', numberFormat: 'fr-FR', contentDays: 30 };
      expect(await jsonOf(await browser.send('PATCH', '/api/settings', choice))).toMatchObject(choice);
      expect(await jsonOf(await browser.get('/api/settings'))).toMatchObject(choice);
      expect(await jsonOf(await browser.send('PATCH', '/api/settings', { contentDays: null }))).toMatchObject({
        ...choice,
        contentDays: null,
      });
      expect(await jsonOf(await browser.send('PATCH', '/api/settings', { zone: 'US/Pacific' }))).toMatchObject({
        zone: 'America/Los_Angeles',
      });
      for (const wrong of [
        { zone: 'Mars/Base' },
        { zone: '+05:30' },
        { numberFormat: 'x' },
        { contentDays: 0 },
        { name: 'a\u0000b' },
        { email: 'x@y.z' },
      ])
        expect((await browser.send('PATCH', '/api/settings', wrong)).status).toBe(400);
    });

    test('an export contains everything about a person and no secrets', async () => {
      const browser = await dashboard.signedUp('export@example.com');
      const { secret } = await jsonOf(await browser.send('POST', '/api/account/first-key'));
      const response = await browser.get('/api/settings/export');
      expect(response.headers.get('content-disposition')).toContain('attachment');
      const text = await response.text();
      const exported = JSON.parse(text) as Record<string, unknown>;
      expect(exported['profile']).toMatchObject({ email: 'export@example.com' });
      expect(exported['keys']).toHaveLength(1);
      expect(exported['sessions']).toHaveLength(1);
      for (const hidden of [
        String(secret),
        PASSWORD,
        decodeURIComponent(browser.cookies.get('tollgate.session_token') ?? '').split('.')[0] ?? '',
      ])
        expect(text).not.toContain(hidden);
    });

    test("an operator's invitation for one address works for nobody else", async () => {
      const invitations = new Invitations(dashboard.dependencies.database.kysely);
      const token = await invitations.create({ kind: 'operator', email: 'chief@example.com', lifeMs: 60_000 });
      const use = (email: string): Promise<Response> =>
        dashboard.browser().send('POST', '/api/setup', { name: '', email, password: PASSWORD, token });
      expect((await use('finder@example.com')).status).toBe(403);
      expect(await accounts().find('finder@example.com')).toBeUndefined();
      expect((await use('Chief@example.com')).status).toBe(200);
      await dashboard.dependencies.database.kysely
        .updateTable('accounts')
        .set({ is_admin: 0 })
        .where('email', '=', 'chief@example.com')
        .execute();
    });

    test("the first operator's link works once, and the last operator cannot leave", async () => {
      const invitations = new Invitations(dashboard.dependencies.database.kysely);
      const token = await invitations.create({ kind: 'operator', email: undefined, lifeMs: 60_000 });
      const late = await invitations.create({ kind: 'operator', email: undefined, lifeMs: -1 });
      const body = { name: 'Op', email: 'operator@example.com', password: PASSWORD };
      const browser = dashboard.browser();
      expect((await browser.send('POST', '/api/setup', { ...body, token: late })).status).toBe(403);
      expect((await browser.send('POST', '/api/setup', { ...body, token: 'x' })).status).toBe(403);
      expect((await browser.send('POST', '/api/setup', { ...body, email: 'ada@example.com', token })).status).toBe(409);
      expect((await browser.send('POST', '/api/setup', { ...body, token })).status).toBe(200);
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ isOperator: true, isEmailVerified: true });
      expect((await dashboard.browser().send('POST', '/api/setup', { ...body, email: 'second@example.com', token })).status).toBe(403);
      expect((await browser.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(409);
      expect((await browser.get('/api/account')).status).toBe(200);
    });
  });
});
