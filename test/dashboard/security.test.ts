import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { sql } from 'kysely';
import { changesSince } from '../../src/accounts/changes.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { errorOf, jsonOf, OTHER_PASSWORD, secretIn } from './answers.ts';
import { openMailbox } from './mailbox.ts';
import { openDashboard, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';

const SESSION_COOKIE = 'tollgate.session_token';

function sessionIn(browser: TestBrowser): string {
  return browser.cookies.get(SESSION_COOKIE) ?? '';
}

function tokenIn(browser: TestBrowser): string {
  return decodeURIComponent(sessionIn(browser)).split('.')[0] ?? '';
}

describeStores((makeStore) => {
  let store: Store;
  let dashboard: TestDashboard;

  beforeAll(async () => {
    store = await makeStore();
    dashboard = await openDashboard(store);
  });
  afterAll(() => dashboard.end());

  describe('the authentication library', () => {
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
    ])('does not expose %s %s', async (method, path) => {
      const browser = dashboard.browser();
      const answer = await (method === 'GET' ? browser.get(`/api/auth${path}`) : browser.send('POST', `/api/auth${path}`, {}));
      expect(answer.status).toBe(404);
    });

    test('accepts only address, password and name in a sign-up', async () => {
      const browser = dashboard.browser();
      const greedy = { emailVerified: true, accountId: 'acct_other', role: 'admin', id: 'person_mine', twoFactorEnabled: true, image: 'x' };
      await browser.send('POST', '/api/auth/sign-up/email', { email: 'greedy@example.com', password: PASSWORD, name: '', ...greedy });
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({
        isEmailVerified: false,
        isOperator: false,
        hasTwoFactor: false,
      });
    });

    test('accepts only JSON, which a form on another site cannot send', async () => {
      const body = { email: 'csrf@example.com', password: PASSWORD };
      const sent = await dashboard.browser().send('POST', '/api/auth/sign-in/email', body, { 'content-type': 'text/plain' });
      expect(sent.status).toBe(400);
    });
  });

  test('a path that leads out of the API is not found', async () => {
    const answer = await dashboard.browser().get('/api/../metrics');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await errorOf(answer)).toMatchObject({ code: 'not_found', request_id: answer.headers.get('x-request-id') });
  });

  describe('a session', () => {
    test('is a cookie that scripts and other sites cannot read', async () => {
      const browser = dashboard.browser();
      const [cookie = ''] = (await browser.signUp('cookie@example.com')).headers.getSetCookie();
      expect(cookie).toStartWith(`${SESSION_COOKIE}=`);
      expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax']);
    });

    test.each([
      ['only signs out', async () => undefined],
      ['deletes the alert', async (browser: TestBrowser, ruleId: string) => browser.send('DELETE', `/api/alerts/rules/${ruleId}`, {})],
    ] as const)('triggers the sign-in alert even if the intruder %s at once', async (title, act) => {
      const email = `${title.replaceAll(' ', '-')}@example.com`;
      const owner = await dashboard.signedUp(email);
      await owner.send('PUT', '/api/alerts/webhook', { url: 'https://hooks.example.com/' });
      const rule = { kind: 'sign_in', byMail: false, byWebhook: true };
      const { id } = await jsonOf(await owner.send('POST', '/api/alerts/rules', rule));
      await Bun.sleep(2);
      const intruder = dashboard.browser();
      await intruder.signIn(email);
      await act(intruder, String(id));
      expect((await intruder.send('POST', '/api/auth/sign-out')).status).toBe(200);
      const { deliveries } = await jsonOf(await owner.get('/api/alerts'));
      expect(deliveries).toMatchObject([{ kind: 'sign_in', title: `New sign-in as ${email}` }]);
    });

    test('gets a new id at every sign-in, so a planted one is not adopted', async () => {
      const attacker = await dashboard.signedUp('attacker@example.com');
      await dashboard.signedUp('victim@example.com');
      const planted = sessionIn(attacker);
      const victim = dashboard.browser();
      victim.cookies.set(SESSION_COOKIE, planted);
      expect((await victim.signIn('victim@example.com')).status).toBe(200);
      expect(sessionIn(victim)).not.toBe(planted);
      expect((await jsonOf(await victim.get('/api/account')))['email']).toBe('victim@example.com');
      expect((await jsonOf(await attacker.get('/api/account')))['email']).toBe('attacker@example.com');
    });

    test('ends after half a day without use, and its use is recorded', async () => {
      const { kysely } = dashboard.dependencies.database;
      const browser = await dashboard.signedUp('idle@example.com');
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

    test('has a token that only its cookie carries', async () => {
      const browser = dashboard.browser();
      const answers = [await browser.signUp('quiet@example.com'), await browser.get('/api/auth/get-session')];
      answers.push(await browser.signIn('quiet@example.com'), await browser.get('/api/settings/sessions'));
      const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      answers.push(await browser.send('POST', '/api/auth/change-password', change));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      for (const text of texts) expect(text).not.toMatch(/"token"/u);
      expect(texts[0]).toContain('"isSignedIn":true');
      expect((await browser.get('/api/account')).status).toBe(200);
    });

    test('is not opened by what the database stores, even with the secret', async () => {
      const browser = await dashboard.signedUp('backup@example.com');
      const stored = createHash('sha256').update(tokenIn(browser)).digest('base64url');
      const { rows } = await sql`SELECT 1 FROM sessions WHERE token = ${stored}`.execute(dashboard.dependencies.database.kysely);
      expect(rows).toHaveLength(1);
      const { secret } = await dashboard.dependencies.auth.library.$context;
      const signature = createHmac('sha256', secret).update(stored).digest('base64');
      browser.cookies.set(SESSION_COOKIE, encodeURIComponent(`${stored}.${signature}`));
      expect((await browser.get('/api/account')).status).toBe(401);
    });

    test('is not accepted from a changed cookie', async () => {
      const browser = await dashboard.signedUp('tamper@example.com');
      const cookie = sessionIn(browser);
      for (const changed of [`${cookie}x`, cookie.slice(1), cookie.split('.')[0] ?? '', 'a.b', '']) {
        browser.cookies.set(SESSION_COOKIE, changed);
        expect((await browser.get('/api/account')).status).toBe(401);
      }
    });
  });

  test('passwords and tokens of links and sessions are not stored in plain text', async () => {
    const session = tokenIn(await dashboard.signedUp('stored@example.com'));
    const { kysely } = dashboard.dependencies.database;
    await dashboard.browser().send('POST', '/api/auth/request-password-reset', { email: 'stored@example.com' });
    const token = /token=(\S+)/u.exec(dashboard.notices.at(-1) ?? '')?.[1] ?? '';
    expect(token).not.toBe('');
    const tables = ['people', 'sessions', 'credentials', 'verifications', 'invitations', 'auth_rate_limits'];
    const rows = await Promise.all(tables.map((table) => sql`SELECT * FROM ${sql.table(table)}`.execute(kysely)));
    const dump = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(dump).toContain('stored@example.com');
    for (const secret of [token, session, PASSWORD]) expect(dump).not.toContain(secret);
  });

  test('nodes share the secret that is stored in the database', async () => {
    const browser = await dashboard.signedUp('node@example.com');
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

  test.each([
    ['http://gate.test', 'tollgate', ['HttpOnly', 'Path=/', 'SameSite=Lax']],
    ['https://gate.test', '__Host-tollgate', ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']],
  ])('every cookie at %s has the strictest attributes', async (publicUrl, prefix, attributes) => {
    const mailbox = await openMailbox();
    const opened = await openDashboard(store, { settings: { publicUrl, smtpUrl: mailbox.url } });
    const email = `${prefix.toLowerCase()}@example.com`;
    const browser = opened.browser();
    const lines: string[] = [];
    const keep = async (answer: Promise<Response>): Promise<Record<string, unknown>> => {
      const { headers, ok } = await answer.then((response) => {
        lines.push(...response.headers.getSetCookie());
        return response;
      });
      expect(ok).toBe(true);
      expect(headers.get('strict-transport-security')).toBe(prefix.startsWith('__') ? 'max-age=31536000; includeSubDomains' : null);
      return jsonOf(await answer);
    };
    await keep(browser.signUp(email));
    await keep(browser.send('POST', '/api/verification', { token: new URL(await mailbox.nextLink(email)).searchParams.get('token') }));
    await keep(browser.get('/api/auth/passkey/generate-register-options'));
    const { uri } = await keep(browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
    await keep(browser.send('POST', '/api/auth/two-factor/verify-totp', { code: await createOTP(secretIn(String(uri))).totp() }));
    await keep(browser.send('POST', '/api/auth/sign-out'));
    await keep(browser.signIn(email));
    const names = lines.map((line) => line.split('=')[0]);
    expect(new Set(names)).toEqual(
      new Set(
        ['signing_up', 'session_token', 'device', 'better-auth-passkey', 'two_factor', 'dont_remember', 'session_data'].map(
          (name) => `${prefix}.${name}`,
        ),
      ),
    );
    for (const line of lines) {
      const bound = line
        .split('; ')
        .slice(1)
        .filter((part) => !part.startsWith('Max-Age='));
      expect([line.split('=')[0], bound.toSorted()]).toEqual([line.split('=')[0], [...attributes]]);
    }
    await opened.close();
    await mailbox.close();
  });

  test('behind a trusted proxy, clients are distinguished', async () => {
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

  test('the gate refuses keys of a deleted account at once', async () => {
    const { kysely } = dashboard.dependencies.database;
    const browser = await dashboard.signedUp('leaver@example.com');
    const { id } = await jsonOf(await browser.get('/api/account'));
    await browser.send('POST', '/api/account/first-key');
    const keys = new Keys(kysely);
    const before = await changesSince(kysely, undefined);
    const [hash] = await kysely
      .selectFrom('key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'key_secrets.key_id')
      .select('key_secrets.hash')
      .where('api_keys.account_id', '=', String(id))
      .execute();
    expect(await keys.findHolder(hash?.hash ?? '')).toBeDefined();
    await browser.send('POST', '/api/settings/delete', { password: PASSWORD });
    expect(await keys.findHolder(hash?.hash ?? '')).toBeUndefined();
    expect((await changesSince(kysely, before?.counter))?.accountIds).toEqual([String(id)]);
  });
});
