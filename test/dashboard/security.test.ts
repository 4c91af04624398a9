import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Keys } from '../../src/accounts/keys.ts';
import { dashboardApi } from '../../src/dashboard/api.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, ORIGIN, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';

/** What anybody may ask. Every other address is only for people who are signed in; a new one that is not must be added here. */
const PUBLIC = /^\/api\/(?:auth\/|setup$|verification$|invitations\/|models|status|openapi\.json$)/u;
const SESSION_COOKIE = 'tollgate.session_token';

interface Route {
  readonly method: string;
  readonly path: string;
}

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function routesOf(dashboard: TestDashboard): Route[] {
  const { routes } = dashboardApi(dashboard.parts);
  const real = routes.filter(({ method, path }) => method !== 'ALL' && !path.endsWith('*'));
  const texts = new Set(real.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/gu, 'some-id')}`));
  return [...texts].map((text) => ({ method: text.split(' ')[0] ?? '', path: text.split(' ')[1] ?? '' }));
}

function sessionIn(browser: TestBrowser): string {
  return browser.cookies.get(SESSION_COOKIE) ?? '';
}

function ask(browser: TestBrowser, { method, path }: Route, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return method === 'GET' ? browser.get(path, headers) : browser.send(method as Method, path, {}, headers);
}

describeStores((makeStore) => {
  let store: Store;
  let dashboard: TestDashboard;

  beforeAll(async () => {
    store = await makeStore();
    dashboard = await openDashboard(store);
  });
  afterAll(async () => {
    expect(dashboard.failures).toEqual([]);
    await dashboard.close();
    await store.remove();
  });

  const signedUp = async (email: string): Promise<TestBrowser> => {
    const browser = dashboard.browser();
    expect((await browser.signUp(email)).status).toBe(200);
    return browser;
  };

  describe('every address', () => {
    test('that is not for everybody answers 401 without a session, and to an API key', async () => {
      const owner = await signedUp('owner@example.com');
      const { secret } = await jsonOf(await owner.send('POST', '/api/account/first-key'));
      const routes = routesOf(dashboard).filter(({ path }) => !PUBLIC.test(path));
      expect(routes.length).toBeGreaterThan(10);
      const stranger = dashboard.browser();
      const forged = { cookie: `${SESSION_COOKIE}=forged.${'x'.repeat(43)}=` };
      for (const headers of [{}, { authorization: `Bearer ${String(secret)}`, 'x-api-key': String(secret) }, forged])
        for (const route of routes) {
          const { status } = await ask(stranger, route, headers);
          expect([route.method, route.path, status]).toEqual([route.method, route.path, 401]);
        }
    });

    test('takes changes from our own pages only', async () => {
      const browser = await signedUp('csrf@example.com');
      const changing = [
        ...routesOf(dashboard).filter(({ method }) => method !== 'GET'),
        ...['sign-in/email', 'sign-up/email', 'sign-out', 'change-email'].map((name) => ({ method: 'POST', path: `/api/auth/${name}` })),
      ];
      for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`, ORIGIN.replace('http:', 'https:')])
        for (const route of changing) {
          const { status } = await ask(browser, route, { origin });
          expect([origin, route.path, status]).toEqual([origin, route.path, 403]);
        }
      expect((await browser.get('/api/account')).status).toBe(200);
    });

    test('has the headers that keep browsers from guessing and keeping', async () => {
      const browser = await signedUp('headers@example.com');
      for (const path of ['/api/account', '/api/settings', '/api/setup', '/api/auth/get-session', '/api/nothing']) {
        const { headers } = await browser.get(path);
        expect([path, headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual([path, 'nosniff', 'no-store']);
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(headers.get('strict-transport-security')).toBeNull();
      }
    });
  });

  describe('what belongs to somebody else', () => {
    test('is not there', async () => {
      const [mine, theirs] = [await signedUp('mine@example.com'), await signedUp('theirs@example.com')];
      const { sessions } = (await (await theirs.get('/api/settings/sessions')).json()) as { sessions: { id: string }[] };
      const passkeyId = await insertPasskey(dashboard, 'theirs@example.com');
      const before = await (await theirs.get('/api/settings/passkeys')).text();
      expect(before).toContain(passkeyId);
      expect((await mine.send('DELETE', `/api/settings/sessions/${sessions[0]?.id}`)).status).toBe(404);
      expect((await mine.send('DELETE', `/api/settings/passkeys/${passkeyId}`)).status).toBe(404);
      expect((await mine.send('PATCH', `/api/settings/passkeys/${passkeyId}`, { name: 'mine' })).status).toBe(404);
      expect(await (await theirs.get('/api/settings/passkeys')).text()).toBe(before);
      expect((await theirs.get('/api/account')).status).toBe(200);
      expect((await theirs.send('DELETE', `/api/settings/passkeys/${passkeyId}`)).status).toBe(200);
    });
  });

  describe('the library for accounts', () => {
    test.each([
      ['POST', '/update-user'],
      ['POST', '/delete-user'],
      ['GET', '/list-sessions'],
      ['POST', '/revoke-session'],
      ['POST', '/set-password'],
      ['POST', '/sign-in/social'],
      ['GET', '/verify-email'],
      ['POST', '/two-factor/enable'],
      ['POST', '/two-factor/get-totp-uri'],
      ['POST', '/two-factor/send-otp'],
      ['GET', '/passkey/list-user-passkeys'],
      ['POST', '/passkey/delete-passkey'],
      ['GET', '/error'],
      ['GET', '/ok'],
      ['GET', '/sign-out'],
      ['GET', '/__proto__'],
    ])('is not reached by %s %s', async (method, path) => {
      const browser = dashboard.browser();
      expect((await ask(browser, { method, path: `/api/auth${path}` })).status).toBe(404);
    });

    test('takes nothing of a sign-up but address, password and name', async () => {
      const browser = dashboard.browser();
      const greedy = { emailVerified: true, accountId: 'acct_other', role: 'admin', id: 'person_mine', twoFactorEnabled: true, image: 'x' };
      await browser.send('POST', '/api/auth/sign-up/email', { email: 'greedy@example.com', password: PASSWORD, name: '', ...greedy });
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({
        isEmailVerified: false,
        isOperator: false,
        hasTwoFactor: false,
      });
    });

    test('takes JSON only, which no form of another site can send', async () => {
      const body = { email: 'csrf@example.com', password: PASSWORD };
      const sent = await dashboard.browser().send('POST', '/api/auth/sign-in/email', body, { 'content-type': 'text/plain' });
      expect(sent.status).toBe(400);
    });
  });

  describe('a session', () => {
    test('is a cookie that scripts and other sites do not get', async () => {
      const browser = dashboard.browser();
      const [cookie = ''] = (await browser.signUp('cookie@example.com')).headers.getSetCookie();
      expect(cookie).toStartWith(`${SESSION_COOKIE}=`);
      expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax']);
    });

    test('has a new id after every sign-in: one that was planted is not taken over', async () => {
      const attacker = await signedUp('attacker@example.com');
      await signedUp('victim@example.com');
      const planted = sessionIn(attacker);
      const victim = dashboard.browser();
      victim.cookies.set(SESSION_COOKIE, planted);
      expect((await victim.signIn('victim@example.com')).status).toBe(200);
      expect(sessionIn(victim)).not.toBe(planted);
      expect((await jsonOf(await victim.get('/api/account')))['email']).toBe('victim@example.com');
      expect((await jsonOf(await attacker.get('/api/account')))['email']).toBe('attacker@example.com');
    });

    test('ends when it was not used for half a day, and is marked when it is used', async () => {
      const { kysely } = dashboard.parts.database;
      const browser = await signedUp('idle@example.com');
      const { id } = await kysely
        .selectFrom('sessions')
        .innerJoin('people', 'people.id', 'sessions.person_id')
        .select('sessions.id')
        .where('people.email', '=', 'idle@example.com')
        .executeTakeFirstOrThrow();
      const lastUsed = (hoursAgo: number): Promise<unknown> =>
        kysely
          .updateTable('sessions')
          .set({ updated_at: new Date(Date.now() - hoursAgo * 3_600_000).toISOString() })
          .where('id', '=', id)
          .execute();
      await lastUsed(11);
      expect((await browser.get('/api/account')).status).toBe(200);
      const { updated_at } = await kysely.selectFrom('sessions').select('updated_at').where('id', '=', id).executeTakeFirstOrThrow();
      expect(Date.now() - new Date(updated_at).getTime()).toBeLessThan(60_000);
      await lastUsed(13);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect(await kysely.selectFrom('sessions').select('id').where('id', '=', id).execute()).toEqual([]);
    });

    test('of a changed cookie is none', async () => {
      const browser = await signedUp('tamper@example.com');
      const cookie = sessionIn(browser);
      for (const changed of [`${cookie}x`, cookie.slice(1), cookie.split('.')[0] ?? '', 'a.b', '']) {
        browser.cookies.set(SESSION_COOKIE, changed);
        expect((await browser.get('/api/account')).status).toBe(401);
      }
    });
  });

  test('what is stored of passwords and links opens nothing', async () => {
    await signedUp('stored@example.com');
    const { kysely } = dashboard.parts.database;
    await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email: 'stored@example.com' });
    const token = /token=(\S+)/u.exec(dashboard.notices.at(-1) ?? '')?.[1] ?? '';
    expect(token).not.toBe('');
    const tables = ['people', 'credentials', 'verifications', 'invitations', 'auth_rate_limits'];
    const rows = await Promise.all(tables.map((table) => sql`SELECT * FROM ${sql.table(table)}`.execute(kysely)));
    const dump = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(dump).toContain('stored@example.com');
    for (const secret of [token, PASSWORD]) expect(dump).not.toContain(secret);
  });

  test('nodes share the secret that is kept in the database', async () => {
    const browser = await signedUp('node@example.com');
    const other = await openDashboard(store);
    const there = other.browser();
    there.cookies.set(SESSION_COOKIE, sessionIn(browser));
    expect((await there.get('/api/account')).status).toBe(200);
    await other.close();
    const changed = await openDashboard(store, { settings: { secret: 'another secret of at least 32 characters' } });
    const nowhere = changed.browser();
    nowhere.cookies.set(SESSION_COOKIE, sessionIn(browser));
    expect((await nowhere.get('/api/account')).status).toBe(401);
    await changed.close();
  });

  test('over https cookies are bound to this host, and browsers are told to stay with https', async () => {
    const secure = await openDashboard(store, { settings: { publicUrl: 'https://gate.test' } });
    const response = await secure.browser().signUp('https@example.com');
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toStartWith('__Host-tollgate.session_token=');
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax', 'Secure']);
    expect(response.headers.get('strict-transport-security')).toStartWith('max-age=31536000');
    await secure.close();
  });

  test('behind a proxy that is trusted, callers are told apart', async () => {
    const behind = await openDashboard(store, { settings: { trustedProxies: ['10.0.0.0/8'] } });
    const browser = behind.browser('10.1.1.1');
    await browser.send(
      'POST',
      '/api/auth/sign-up/email',
      { email: 'proxied@example.com', password: PASSWORD },
      { 'x-forwarded-for': '1.2.3.4, 198.51.100.3' },
    );
    const { sessions } = (await (await browser.get('/api/settings/sessions')).json()) as { sessions: { address: string }[] };
    expect(sessions.map(({ address }) => address)).toEqual(['198.51.100.3']);
    await behind.close();
  });

  test('keys of a deleted account are gone from the gate at once', async () => {
    const { kysely } = dashboard.parts.database;
    const browser = await signedUp('leaver@example.com');
    const { id } = await jsonOf(await browser.get('/api/account'));
    await browser.send('POST', '/api/account/first-key');
    const keys = new Keys(kysely);
    const before = await keys.changeCounter();
    const [hash] = await kysely
      .selectFrom('key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'key_secrets.key_id')
      .select('key_secrets.hash')
      .where('api_keys.account_id', '=', String(id))
      .execute();
    expect(await keys.findHolder(hash?.hash ?? '')).toBeDefined();
    await browser.send('POST', '/api/settings/delete', { password: PASSWORD });
    expect(await keys.findHolder(hash?.hash ?? '')).toBeUndefined();
    expect(await keys.changeCounter()).toBeGreaterThan(before);
  });
});

/** A passkey as the library stores it, without a device to make one. */
async function insertPasskey({ parts: { auth } }: TestDashboard, email: string): Promise<string> {
  const { adapter, internalAdapter } = await auth.library.$context;
  const found = await internalAdapter.findUserByEmail(email);
  const data = { userId: found?.user.id ?? '', publicKey: 'x', credentialID: 'x', counter: 0, deviceType: 'singleDevice', backedUp: false };
  const { id } = await adapter.create<Record<string, unknown>, { id: string }>({ model: 'passkey', data });
  return id;
}
