import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createOTP } from '@better-auth/utils/otp';
import { Accounts } from '../../src/accounts/accounts.ts';
import { readAudit } from '../../src/accounts/audit.ts';
import { Invitations } from '../../src/accounts/invitations.ts';
import type { DashboardSettings } from '../../src/dashboard/messages.ts';
import { CLIENT, IdentityProvider, type Identity } from '../simulator/identity-provider.ts';
import { errorOf, jsonOf, OTHER_PASSWORD, printedToken, secretIn } from './answers.ts';
import { insertPasskey } from './belongings.ts';
import { openDashboard, ORIGIN, PASSWORD, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';
import { endOf, ownProvider, pathOf, identityOf, Traveller } from './traveller.ts';

const HOUR_MS = 3600 * 1000;

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

async function linkedOf(browser: TestBrowser): Promise<{ id: string; provider: string; name: string }[]> {
  const { linked } = await jsonOf(await browser.get('/api/settings/linked-accounts'));
  return linked as { id: string; provider: string; name: string }[];
}

describeStores((makeStore) => {
  let store: Store;
  let dashboard: TestDashboard;

  const open = (settings: Partial<DashboardSettings> = {}): Promise<TestDashboard> =>
    openDashboard(store, { settings: { signInProviders: [ownProvider(provider)], ...settings } });
  beforeAll(async () => {
    store = await makeStore();
    dashboard = await open({ signUpCreditUsd: '5' });
  });
  afterAll(() => dashboard.end());

  const signedUp = async (email: string, isVerified = false): Promise<TestBrowser> => {
    const browser = dashboard.browser();
    expect((await browser.signUp(email)).status).toBe(200);
    if (isVerified) await browser.send('POST', '/api/verification', { token: printedToken(dashboard, email) });
    return browser;
  };
  const peopleOf = (email: string) =>
    dashboard.dependencies.database.kysely.selectFrom('people').select('id').where('email', '=', email).execute();

  describe('a new person', () => {
    test('gets an account, a verified address, credit and a first key, and returns to the same account', async () => {
      const browser = dashboard.browser();
      expect(pathOf(await traveller.go(browser, identityOf('ida')))).toBe('/welcome?new=true');
      const account = await jsonOf(await browser.get('/api/account'));
      expect(account).toMatchObject({ email: 'ida@example.com', name: 'ida', isEmailVerified: true, balanceUsd: '5' });
      expect((await browser.send('POST', '/api/account/first-key')).status).toBe(200);
      const again = dashboard.browser();
      expect(pathOf(await traveller.go(again, identityOf('ida'), { body: { to: '/keys?q=x' } }))).toBe('/welcome?to=%2Fkeys%3Fq%3Dx');
      expect(await jsonOf(await again.get('/api/account'))).toMatchObject({ id: account['id'], balanceUsd: '5' });
      expect(again.cookies.has('tollgate.device')).toBe(true);
    });

    test('is sent to the provider with state, PKCE, a nonce and our return address', async () => {
      await traveller.go(dashboard.browser(), identityOf('pia'));
      const asked = Object.fromEntries(provider.asked);
      expect(asked).toMatchObject({
        client_id: CLIENT.clientId,
        response_type: 'code',
        scope: 'openid email profile',
        code_challenge_method: 'S256',
        redirect_uri: `${ORIGIN}/api/auth/callback/oidc`,
      });
      for (const name of ['state', 'code_challenge', 'nonce']) expect((asked[name] ?? '').length).toBeGreaterThanOrEqual(32);
    });

    test('may have an address from the user-info endpoint, or verified as a string', async () => {
      provider.isEmailOnlyInUserInfo = true;
      expect(pathOf(await traveller.go(dashboard.browser(), identityOf('late')))).toBe('/welcome?new=true');
      expect(pathOf(await traveller.go(dashboard.browser(), identityOf('word', { email_verified: 'true' })))).toBe('/welcome?new=true');
    });

    test('gets the account that the command line created for the address', async () => {
      const created = await new Accounts(dashboard.dependencies.database.kysely).create('made@example.com', false);
      const browser = dashboard.browser();
      await traveller.go(browser, identityOf('made'));
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ id: created?.id });
    });

    test('is stored without tokens, picture or control characters in the name', async () => {
      const browser = dashboard.browser();
      await traveller.go(browser, identityOf('neat', { name: ` Neat\u0000\u001b[31m${'x'.repeat(200)}` }));
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ name: `Neat[31m${'x'.repeat(92)}` });
      const [row] = await dashboard.dependencies.database.kysely
        .selectFrom('credentials')
        .selectAll()
        .where(
          'person_id',
          'in',
          (await peopleOf('neat@example.com')).map(({ id }) => id),
        )
        .execute();
      expect(row).toMatchObject({ access_token: null, refresh_token: null, id_token: null, password: null });
    });

    test.each([
      ['says that the address is not verified', { email_verified: false }, 'address_not_verified'],
      ['says nothing about the address', { email_verified: undefined }, 'address_not_verified'],
      ['sends no address', { email: undefined }, 'email_not_found'],
      ['sends an invalid address', { email: 'root' }, 'email_not_found'],
      // Its lower case is an ordinary k.
      ['sends an address with the sign for kelvin', { email: '\u212A@example.com' }, 'address_not_verified'],
    ])('is refused if the provider %s', async (_, more, error) => {
      const browser = dashboard.browser();
      const who = identityOf(`odd${error}`, more as Partial<Identity>);
      expect(pathOf(await traveller.go(browser, who))).toBe(`/sign-in?with=oidc&error=${error}`);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect(await peopleOf(`odd${error}@example.com`)).toEqual([]);
    });
  });

  describe('where sign-up is restricted', () => {
    test('a closed service refuses new people and admits those with an account', async () => {
      const closed = await open({ signUp: 'closed' });
      expect(pathOf(await traveller.go(closed.browser(), identityOf('late-comer')))).toBe('/sign-in?with=oidc&error=sign_up_closed');
      await signedUp('member@example.com', true);
      const member = closed.browser();
      expect(pathOf(await traveller.go(member, identityOf('member')))).toBe('/welcome');
      expect((await member.get('/api/account')).status).toBe(200);
      await closed.close();
    });

    test('an invitation admits its recipient once', async () => {
      const invite = await open({ signUp: 'invite' });
      const invitations = new Invitations(invite.dependencies.database.kysely);
      const token = await invitations.create({ kind: 'person', email: 'guest@example.com', lifeMs: HOUR_MS });
      const body = { invitation: token };
      expect(pathOf(await traveller.go(invite.browser(), identityOf('guest')))).toBe('/sign-in?with=oidc&error=invitation_needed');
      expect(pathOf(await traveller.go(invite.browser(), identityOf('other'), { body }))).toContain('error=invitation_other_address');
      expect(await invitations.find(token)).toMatchObject({ state: 'open' });
      expect(pathOf(await traveller.go(invite.browser(), identityOf('guest'), { body }))).toBe('/welcome?new=true');
      expect(await invitations.find(token)).toMatchObject({ state: 'used' });
      expect(pathOf(await traveller.go(invite.browser(), identityOf('second'), { body }))).toContain('error=invitation_needed');
      const operator = await invitations.create({ kind: 'operator', email: undefined, lifeMs: HOUR_MS });
      expect(pathOf(await traveller.go(invite.browser(), identityOf('sly'), { body: { invitation: operator } }))).toContain(
        'error=invitation_needed',
      );
      await invite.close();
    });
  });

  describe('an existing account', () => {
    test('is linked by its address if both sides have verified it, and its owner is notified', async () => {
      const owner = await signedUp('both@example.com', true);
      const browser = dashboard.browser();
      await traveller.go(browser, identityOf('both'));
      const { id } = await jsonOf(await owner.get('/api/account'));
      expect(await jsonOf(await browser.get('/api/account'))).toMatchObject({ id });
      expect(await linkedOf(owner)).toMatchObject([{ provider: 'oidc', name: 'Acme' }]);
      expect(dashboard.notices.at(-1)).toContain('To both@example.com: Signing in with Acme was added');
      expect(await readAudit(dashboard.dependencies.database.kysely, String(id), 5)).toMatchObject([
        { actor: 'both@example.com', action: 'sign-in.add' },
      ]);
    });

    test('is not linked if the provider has not verified the address, which is not revealed', async () => {
      await signedUp('mine@example.com', true);
      await signedUp('unsure@example.com');
      for (const name of ['mine', 'unsure', 'nobody-here'])
        expect(pathOf(await traveller.go(dashboard.browser(), identityOf(name, { email_verified: false })))).toBe(
          '/sign-in?with=oidc&error=address_not_verified',
        );
    });

    test('is not linked if its own address was never verified, because a stranger may have signed up with it', async () => {
      const stranger = await signedUp('victim@example.com');
      const browser = dashboard.browser();
      expect(pathOf(await traveller.go(browser, identityOf('victim')))).toBe('/sign-in?with=oidc&error=own_address_not_verified');
      expect((await browser.get('/api/account')).status).toBe(401);
      expect(await linkedOf(stranger)).toEqual([]);
    });

    test('can be linked under Settings to an identity with another address, and signs in with it', async () => {
      const browser = await signedUp('linker@example.com');
      const who = identityOf('else', { email: 'else@example.org', email_verified: false });
      expect(pathOf(await traveller.go(browser, who, { path: '/link-social' }))).toBe('/settings?tab=security&linked=oidc');
      const there = dashboard.browser();
      await traveller.go(there, who);
      expect(await jsonOf(await there.get('/api/account'))).toMatchObject({ email: 'linker@example.com', isEmailVerified: false });
      // An identity that is already linked stays with its account.
      const other = await signedUp('other-linker@example.com');
      expect(pathOf(await traveller.go(other, who, { path: '/link-social' }))).toBe(
        '/settings?tab=security&with=oidc&error=account_already_linked_to_different_user',
      );
    });

    test('is linked only by a person who signed in within the last hour and is still signed in on return', async () => {
      expect((await dashboard.browser().send('POST', '/api/auth/link-social', { provider: 'oidc' })).status).toBe(401);
      const browser = await signedUp('stale@example.com');
      const kysely = dashboard.dependencies.database.kysely;
      const [person] = await peopleOf('stale@example.com');
      const back = await traveller.leave(browser, identityOf('stale'), { path: '/link-social' });
      await browser.send('POST', '/api/auth/sign-out');
      expect(pathOf(endOf(await browser.get(back)))).toBe('/settings?tab=security&with=oidc&error=session_over');
      await browser.signIn('stale@example.com');
      const anHourAgo = new Date(Date.now() - HOUR_MS - 60_000).toISOString();
      await kysely
        .updateTable('sessions')
        .set({ created_at: anHourAgo } as never)
        .where('person_id', '=', person?.id ?? '')
        .execute();
      const refused = await browser.send('POST', '/api/auth/link-social', { provider: 'oidc' });
      expect([refused.status, (await errorOf(refused)).message]).toEqual([403, expect.stringContaining('within the last hour')]);
      const unlink = await browser.send('DELETE', '/api/settings/linked-accounts/x');
      expect([unlink.status, (await errorOf(unlink)).message]).toEqual([403, expect.stringContaining('within the last hour')]);
    });

    test('still asks for its second factor', async () => {
      const browser = await signedUp('factor@example.com', true);
      await traveller.go(browser, identityOf('factor'), { path: '/link-social' });
      const { uri } = await jsonOf(await browser.send('POST', '/api/settings/two-factor', { password: PASSWORD }));
      const totp = (): Promise<string> => createOTP(secretIn(String(uri))).totp();
      expect((await browser.send('POST', '/api/auth/two-factor/verify-totp', { code: await totp() })).status).toBe(200);
      const there = dashboard.browser();
      expect(pathOf(await traveller.go(there, identityOf('factor'), { body: { to: '/keys' } }))).toBe('/two-factor?to=%2Fkeys');
      expect((await there.get('/api/account')).status).toBe(401);
      expect(there.cookies.has('tollgate.device')).toBe(false);
      expect((await there.send('POST', '/api/auth/two-factor/verify-totp', { code: '000000' })).status).toBe(401);
      expect((await there.get('/api/account')).status).toBe(401);
      expect((await there.send('POST', '/api/auth/two-factor/verify-totp', { code: await totp() })).status).toBe(200);
      expect((await there.get('/api/account')).status).toBe(200);
    });
  });

  describe('the last way to sign in', () => {
    test('cannot be removed until a password is set', async () => {
      const browser = dashboard.browser();
      await traveller.go(browser, identityOf('only'));
      const [link] = await linkedOf(browser);
      const unlink = () => browser.send('DELETE', `/api/settings/linked-accounts/${link?.id}`);
      const refused = await unlink();
      expect([refused.status, (await errorOf(refused)).message]).toEqual([409, expect.stringContaining('your only way to sign in')]);
      const weak = await browser.send('POST', '/api/settings/password', { newPassword: 'password123' });
      expect([weak.status, (await errorOf(weak)).field]).toEqual([400, 'password']);
      expect((await browser.send('POST', '/api/settings/password', { newPassword: OTHER_PASSWORD })).status).toBe(200);
      expect((await browser.send('POST', '/api/settings/password', { newPassword: PASSWORD })).status).toBe(409);
      expect((await unlink()).status).toBe(200);
      expect(await linkedOf(browser)).toEqual([]);
      expect((await dashboard.browser().signIn('only@example.com', OTHER_PASSWORD)).status).toBe(200);
      const { id } = await jsonOf(await browser.get('/api/account'));
      expect((await readAudit(dashboard.dependencies.database.kysely, String(id), 1))[0]).toMatchObject({
        action: 'sign-in.remove',
        changes: [{ field: 'sign-in', before: 'oidc', after: null }],
      });
    });

    test('is kept even if two are removed at the same moment', async () => {
      const browser = dashboard.browser();
      await traveller.go(browser, identityOf('pair'));
      const [link] = await linkedOf(browser);
      const passkey = await insertPasskey(dashboard, 'pair@example.com');
      const answers = await Promise.all([
        browser.send('DELETE', `/api/settings/linked-accounts/${link?.id}`),
        browser.send('DELETE', `/api/settings/passkeys/${passkey}`),
      ]);
      expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 409]);
    });

    test('does not include providers that are no longer configured', async () => {
      const browser = await signedUp('former@example.com');
      await traveller.go(browser, identityOf('former'), { path: '/link-social' });
      const [person] = await peopleOf('former@example.com');
      const kysely = dashboard.dependencies.database.kysely;
      await kysely
        .deleteFrom('credentials')
        .where('person_id', '=', person?.id ?? '')
        .where('provider_id', '=', 'credential')
        .execute();
      const passkey = await insertPasskey(dashboard, 'former@example.com');
      const later = await open({ signInProviders: [] });
      const there = later.browser();
      for (const [name, value] of browser.cookies) there.cookies.set(name, value);
      expect((await there.send('DELETE', `/api/settings/passkeys/${passkey}`)).status).toBe(409);
      await later.close();
    });
  });

  test('a person who signed up through a provider can export their data and delete their account without a password', async () => {
    const browser = dashboard.browser();
    await traveller.go(browser, identityOf('leaver'));
    const taken = await jsonOf(await browser.get('/api/settings/export'));
    expect(taken).toMatchObject({ linked_accounts: [{ provider: 'oidc' }] });
    expect((await browser.send('POST', '/api/settings/delete', {})).status).toBe(200);
    expect(await peopleOf('leaver@example.com')).toEqual([]);
    expect(pathOf(await traveller.go(dashboard.browser(), identityOf('leaver')))).toBe('/welcome?new=true');
  });
});
