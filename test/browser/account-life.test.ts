import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createOTP } from '@better-auth/utils/otp';
import type { Browser } from 'playwright-core';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { LONGEST_REQUEST_MS } from '../conformance/ledger-driver.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { secretIn } from '../dashboard/answers.ts';
import { describeStores } from '../dashboard/stores.ts';
import { until } from '../until.ts';
import { buildPages } from '../services/built.ts';
import { chromiumPath, close, launchChromium } from '../services/chromium.ts';
import { EMAIL, LifeStage, signInElsewhere } from './life-stage.ts';
import { Steps } from './steps.ts';
import { ask, Traffic } from './traffic.ts';

/** The whole life of an account in a real browser, with real emails and the official client as the calling program. */

const FIRST = 'correct horse battery';
const SECOND = 'seven loud herons';
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('the life of an account', () => {
  let browser: Browser;

  beforeAll(async () => {
    await buildPages();
    browser = await launchChromium();
  }, TEST_MS);
  afterAll(() => close(browser));

  describeStores((makeStore) => {
    let life: LifeStage;
    /** The first key's secret. */
    let secret: string;
    let totp: (periodsAhead?: number) => Promise<string>;
    let recoveryCodes: string[];

    beforeAll(async () => {
      life = await LifeStage.open(await makeStore(), browser);
    }, TEST_MS);
    afterAll(() => life?.close());

    const steps = new Steps();
    const { add: step } = steps;

    step(
      'signs up, opens the link in the email, and gets a key on the next page',
      async () => {
        await life.visit('/sign-up?code=NO-SUCH-CODE');
        await life.fill('Email address', EMAIL);
        await life.fill('Password', 'password123');
        await life.press('Create account');
        await life.see('too easy to guess');
        await life.fill('Password', FIRST);
        await life.press('Create account');
        await life.see(`We sent an email to ${EMAIL}`);
        expect(await life.page.getByRole('link', { name: 'Sign up with a different one' }).getAttribute('href')).toContain(
          'code=NO-SUCH-CODE',
        );
        const link = await life.mailbox.nextLink(EMAIL);
        await life.page.goto(link);
        await life.arrive('/start');
        secret = await life.read(/^sk-tg-/u);
        await life.see('Promo code not accepted');
        // Opening the link twice does no harm.
        await life.page.goto(link);
        await life.arrive('/start');
      },
      TEST_MS,
    );

    step(
      'calls models with the key, and every page shows the requests',
      async () => {
        const account = await life.service.accounts.find(EMAIL);
        if (account === undefined) throw new Error('signing up created no account');
        expect(await ask(life.origin, secret)).toBe('403 insufficient_quota');
        await life.service.accounts.credit(account, usd('10'), { reason: 'a gift', actor: 'test' });
        for (let count = 0; count < 3; count += 1) expect(await ask(life.origin, secret)).toBe('ok');
        expect(await ask(life.origin, `${secret.slice(0, -1)}?`)).toBe('401 invalid_api_key');
        await life.see('You are all set');
        await life.visit('/requests');
        const rows = life.page.getByRole('region', { name: 'Requests, newest first' }).locator('tbody tr', { hasText: 'sandbox/echo' });
        await rows.nth(2).waitFor();
        expect(await rows.count()).toBe(3);
        await life.visit('/usage?metric=requests&group=key');
        await life.page
          .getByRole('row', { name: /First key/u })
          .getByRole('cell', { name: '3', exact: true })
          .first()
          .waitFor();
        await life.visit('/overview');
        await life.page
          .getByRole('row', { name: /sandbox\/echo/u })
          .first()
          .waitFor();
        await life.visit('/billing');
        await life.see('a gift');
      },
      TEST_MS,
    );

    step(
      'rotates the key under traffic without a failed request',
      async () => {
        await life.visit('/keys');
        await life.page.getByRole('link', { name: 'First key' }).click();
        const traffic = new Traffic(life.origin, secret, 4);
        await traffic.pass(20);
        await life.press('Rotate');
        await life.page.getByLabel('1 hour').check();
        await life.page.getByRole('button', { name: 'Rotate' }).last().click();
        const fresh = await life.storeSecret();
        await traffic.pass(20);
        traffic.secret = fresh;
        await traffic.pass(20);
        await life.press('End overlap now');
        await life.press('End overlap');
        await life.see('Only the newest secret works.');
        await traffic.pass(20);
        expect(await traffic.stop()).toEqual(['ok']);
        await until(async () => (await ask(life.origin, secret)) === '401 invalid_api_key');
        secret = fresh;
      },
      TEST_MS,
    );

    step(
      'reaches the limit of a key and sees it on the pages',
      async () => {
        await life.visit('/keys?create=open');
        await life.fill('Name', 'thrifty');
        await life.fill('Per day', '0.000012');
        await life.page.getByRole('button', { name: 'Create key' }).last().click();
        const thrifty = await life.storeSecret();
        let outcome = 'ok';
        for (let count = 0; count < 100 && outcome === 'ok'; count += 1) outcome = await ask(life.origin, thrifty);
        expect(outcome).toBe('403 insufficient_quota');
        expect(await ask(life.origin, secret)).toBe('ok');
        await life.visit('/keys');
        await life.page.getByRole('link', { name: 'thrifty' }).click();
        await life.see('refused a request');
        await life.visit('/overview');
        await life.see(/thrifty/u);
      },
      TEST_MS,
    );

    step(
      'downloads its data',
      async () => {
        await life.visit('/settings?tab=data');
        const download = life.page.waitForEvent('download');
        await life.page.getByRole('link', { name: 'Download my data' }).click();
        const text = readFileSync(await (await download).path(), 'utf8');
        const taken = JSON.parse(text) as {
          profile: { email: string };
          keys: { name: string }[];
          statement: unknown[];
          usage: { model: string }[];
        };
        expect(taken).toMatchObject({ profile: { email: EMAIL }, usage: [{ model: 'sandbox/echo' }] });
        expect(taken.keys.map(({ name }) => name)).toEqual(['First key', 'thrifty']);
        expect(taken.statement.length).toBeGreaterThan(80);
        expect(text).not.toContain(secret);
      },
      TEST_MS,
    );

    step(
      'signs out and in again',
      async () => {
        await life.signOut();
        await life.visit('/settings');
        await life.arrive(/\/sign-in\?to=/u);
        await life.fill('Email address', EMAIL);
        await life.fill('Password', SECOND);
        await life.press('Sign in');
        await life.see('Wrong email address or password.');
        await life.fill('Password', FIRST);
        await life.press('Sign in');
        await life.arrive('/settings');
      },
      TEST_MS,
    );

    step(
      'turns on two-factor authentication and signs in with it',
      async () => {
        await life.visit('/settings?tab=security');
        await life.press('Turn on');
        const dialog = life.dialog();
        await dialog.getByLabel('Password', { exact: true }).fill(FIRST);
        await dialog.getByRole('button', { name: 'Turn on' }).click();
        await dialog.getByRole('img', { name: 'QR code' }).waitFor();
        const key = (await dialog.locator('code').first().textContent()) ?? '';
        recoveryCodes = ((await dialog.getByTestId('recovery-codes').textContent()) ?? '').trim().split('\n');
        const shared = secretIn(`otpauth://totp/x?secret=${key}`);
        totp = (periodsAhead = 0) => createOTP(shared).hotp(Math.floor(Date.now() / 30_000) + periodsAhead);
        await dialog.getByLabel('I have stored the recovery codes').check();
        await dialog.getByLabel('Code from the app').fill(await totp());
        await dialog.getByRole('button', { name: 'Turn on' }).click();
        await life.see('Signing in with your password or a linked account asks for a code');
        await life.signOut();
        await life.enterPassword(FIRST);
        await life.arrive(/\/two-factor/u);
        await life.fill('Code', '000000');
        await life.press('Continue');
        await life.page.getByRole('alert').waitFor();
        // Apps show the code with a space.
        await life.fill('Code', (await totp()).replace(/^.../u, '$& '));
        await life.press('Continue');
        await life.arrive('/overview');
        await life.visit('/two-factor');
        await life.arrive('/overview');
      },
      TEST_MS,
    );

    step(
      'adds a passkey and signs in with it',
      async () => {
        const devtools = await life.context.newCDPSession(life.page);
        await devtools.send('WebAuthn.enable');
        await devtools.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        });
        await life.visit('/settings?tab=security');
        await life.fill('Passkey name (optional)', 'Test key');
        await life.press('Add passkey');
        await life.see('Test key');
        expect(await life.mailbox.next(EMAIL)).toContain('A passkey was added');
        await life.signOut();
        await life.visit('/sign-in');
        await life.press('Sign in with a passkey');
        await life.arrive('/overview');
      },
      TEST_MS,
    );

    step(
      'revokes all other sessions',
      async () => {
        const elsewhere = await signInElsewhere(browser, life.origin, { password: FIRST, recoveryCode: recoveryCodes[0] ?? '' });
        await life.visit('/settings?tab=sessions');
        await life.press('Revoke all others');
        await life.see('All other sessions revoked');
        // Uses a new tab: the old one may be redirecting to sign-in by itself, which would abort the navigation.
        const later = await elsewhere.newPage();
        await later.goto(`${life.origin}/settings`);
        await later.waitForURL(/\/sign-in/u);
      },
      TEST_MS,
    );

    step(
      'resets a forgotten password',
      async () => {
        await life.signOut();
        await life.visit('/forgot');
        await life.fill('Email address', EMAIL);
        await life.press('Send link');
        await life.see('an email is on its way');
        const link = await life.mailbox.nextLink(EMAIL);
        await life.page.goto(link);
        await life.fill('New password', SECOND);
        await life.press('Set password');
        await life.see('Password set. Sign in with it.');
        await life.page.goto(link);
        await life.fill('New password', FIRST);
        await life.press('Set password');
        await life.see('This link has been used or has expired');
        await life.enterPassword(SECOND);
        // The current code may already be used, and each works once. Because clocks differ, the next one is accepted early.
        await life.fill('Code', await totp(1));
        await life.press('Continue');
        await life.arrive('/overview');
      },
      TEST_MS,
    );

    step(
      'is deleted by its owner',
      async () => {
        await life.visit('/settings?tab=data');
        await life.press('Delete my account');
        const dialog = life.dialog();
        await dialog.getByLabel('Password', { exact: true }).fill(SECOND);
        await dialog.getByRole('button', { name: 'Delete my account' }).click();
        await life.arrive('/');
        await life.enterPassword(SECOND);
        await life.see('Wrong email address or password.');
        expect(life.complaints).toEqual([]);
      },
      TEST_MS,
    );

    step(
      'leaves no working key and a sound ledger',
      async () => {
        expect(await ask(life.origin, secret)).toBe('401 invalid_api_key');
        const { kysely } = life.database;
        const accounts = await kysely.selectFrom('accounts').selectAll().where('closed_at', 'is not', null).execute();
        expect(accounts).toMatchObject([{ email: `closed:${accounts[0]?.id}`, status: 'suspended' }]);
        expect(await kysely.selectFrom('people').select('id').where('email', '=', EMAIL).execute()).toEqual([]);
        const kinds = await kysely.selectFrom('transfers').select('kind').distinct().orderBy('kind').execute();
        expect(kinds.map(({ kind }) => kind)).toEqual(['manual', 'usage']);
        const checks = await verifyLedger(kysely, { longestRequestMs: LONGEST_REQUEST_MS });
        expect(checks.filter(({ ok }) => !ok)).toEqual([]);
      },
      TEST_MS,
    );

    test('goes from sign-up to deletion, step by step', () => steps.takeAll(), steps.withinMs);
  });
});
