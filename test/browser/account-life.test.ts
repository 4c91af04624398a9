import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOTP } from '@better-auth/utils/otp';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { buildWeb } from '../../scripts/build-web.ts';
import { loadConfig } from '../../src/config.ts';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { serve, type Service } from '../../src/serve.ts';
import { secretIn } from '../dashboard/answers.ts';
import { openMailbox, type Mailbox } from '../dashboard/mailbox.ts';
import { describeStores, type Store } from '../dashboard/stores.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findFreePort } from '../services/free-port.ts';

/** The life of an account in a real browser, against the real server and a real mail server. */

const EMAIL = 'ada@example.com';
const FIRST = 'correct horse battery';
const SECOND = 'seven loud herons';
const STEP_MS = 15_000;
const TEST_MS = 60_000;

describe.skipIf(chromiumPath === undefined)('the life of an account', () => {
  let browser: Browser;

  beforeAll(async () => {
    expect(await buildWeb()).toBe(true);
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  }, TEST_MS);
  afterAll(() => browser?.close());

  describeStores((makeStore) => {
    let store: Store;
    let mailbox: Mailbox;
    let service: Service;
    let folder: string;
    let origin: string;
    let context: BrowserContext;
    let page: Page;
    let totp: () => Promise<string>;
    let recoveryCodes: string[];
    const complaints: string[] = [];

    beforeAll(async () => {
      store = await makeStore();
      mailbox = await openMailbox();
      folder = mkdtempSync(join(tmpdir(), 'tollgate-account-'));
      const port = await findFreePort();
      origin = `http://localhost:${port}`;
      const database = store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl };
      const config = loadConfig({
        ...database,
        PORT: String(port),
        PUBLIC_URL: origin,
        TOLLGATE_DATA: folder,
        TOLLGATE_LOG_LEVEL: 'silent',
        SMTP_URL: mailbox.url,
      });
      const opened = await connect(config);
      await migrate(opened.kysely, opened.dialect);
      await opened.kysely.destroy();
      service = await serve(config);
      context = await openContext(browser);
      page = await context.newPage();
      listen(page);
    }, TEST_MS);
    afterAll(async () => {
      await context?.close();
      await service?.drain();
      await mailbox?.close();
      await store?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    const listen = (listened: Page): void => {
      listened.on('pageerror', (error) => complaints.push(error.message));
      listened.on('console', (message) => {
        if (/content.security.policy/iu.test(message.text())) complaints.push(message.text());
      });
    };
    const fill = (label: string, text: string): Promise<void> => page.getByLabel(label, { exact: true }).fill(text);
    const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
    const see = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
    const signOut = async (): Promise<void> => {
      await page.getByRole('button', { name: /^Account/u }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.waitForURL(`${origin}/`);
    };
    const enterPassword = async (password: string): Promise<void> => {
      await page.goto(`${origin}/sign-in`);
      await fill('E-mail address', EMAIL);
      await fill('Password', password);
      await press('Sign in');
    };

    test(
      'begins with an address and a password, a link in a letter, and a key on the next page',
      async () => {
        await page.goto(`${origin}/sign-up?code=NO-SUCH-CODE`);
        await fill('E-mail address', EMAIL);
        await fill('Password', 'password123');
        await press('Create account');
        await see('among the first that anybody would try');
        await fill('Password', FIRST);
        await press('Create account');
        await see(`We sent a letter to ${EMAIL}`);
        await page.goto(await mailbox.nextLink(EMAIL));
        await see('Your address is verified.');
        await press('Go on');
        await page.waitForURL(`${origin}/start`);
        await see(/^sk-tg-/u);
        await see('Your code was not taken.');
      },
      TEST_MS,
    );

    test(
      'goes on after signing out and in',
      async () => {
        await signOut();
        await page.goto(`${origin}/settings`);
        await page.waitForURL(/\/sign-in\?to=/u);
        await fill('E-mail address', EMAIL);
        await fill('Password', SECOND);
        await press('Sign in');
        await see('The e-mail address or the password is not right.');
        await fill('Password', FIRST);
        await press('Sign in');
        await page.waitForURL(`${origin}/settings`);
      },
      TEST_MS,
    );

    test(
      'is safer with a second factor',
      async () => {
        await page.goto(`${origin}/settings?tab=security`);
        await press('Turn on');
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Password', { exact: true }).fill(FIRST);
        await dialog.getByRole('button', { name: 'Turn on' }).click();
        await dialog.getByRole('img', { name: 'QR code' }).waitFor();
        const key = (await dialog.locator('code').first().textContent()) ?? '';
        recoveryCodes = ((await dialog.getByTestId('recovery-codes').textContent()) ?? '').trim().split('\n');
        const secret = secretIn(`otpauth://totp/x?secret=${key}`);
        totp = () => createOTP(secret).totp();
        await dialog.getByLabel('I have kept the recovery codes').check();
        await dialog.getByLabel('Code of the app').fill(await totp());
        await dialog.getByRole('button', { name: 'Turn on' }).click();
        await see('Signing in with the password asks for a code');
        await signOut();
        await enterPassword(FIRST);
        await page.waitForURL(/\/two-factor/u);
        await fill('Code', '000000');
        await press('Go on');
        await page.getByRole('alert').waitFor();
        await fill('Code', await totp());
        await press('Go on');
        await page.waitForURL(`${origin}/overview`);
      },
      TEST_MS,
    );

    test(
      'is easier with a passkey',
      async () => {
        const devtools = await context.newCDPSession(page);
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
        await page.goto(`${origin}/settings?tab=security`);
        await fill('Name of the passkey (optional)', 'Test key');
        await press('Add a passkey');
        await see('Test key');
        expect(await mailbox.next(EMAIL)).toContain('A passkey was added');
        await signOut();
        await page.goto(`${origin}/sign-in`);
        await press('Sign in with a passkey');
        await page.waitForURL(`${origin}/overview`);
      },
      TEST_MS,
    );

    test(
      'has sessions that can be ended from another one',
      async () => {
        const other = await openContext(browser);
        const there = await other.newPage();
        await there.goto(`${origin}/sign-in`);
        await there.getByLabel('E-mail address', { exact: true }).fill(EMAIL);
        await there.getByLabel('Password', { exact: true }).fill(FIRST);
        await there.getByRole('button', { name: 'Sign in', exact: true }).click();
        await there.getByRole('button', { name: 'Use a recovery code' }).click();
        await there.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '');
        await there.getByRole('button', { name: 'Go on' }).click();
        await there.waitForURL(`${origin}/overview`);
        await page.goto(`${origin}/settings?tab=sessions`);
        await press('End all others');
        await see('All other sessions have ended.');
        await there.goto(`${origin}/settings`);
        await there.waitForURL(/\/sign-in/u);
        await other.close();
      },
      TEST_MS,
    );

    test(
      'survives a forgotten password',
      async () => {
        await signOut();
        await page.goto(`${origin}/forgot`);
        await fill('E-mail address', EMAIL);
        await press('Send the link');
        await see('a letter is on its way');
        const link = await mailbox.nextLink(EMAIL);
        await page.goto(link);
        await fill('New password', SECOND);
        await press('Set password');
        await see('Your password is set.');
        await page.goto(link);
        await fill('New password', FIRST);
        await press('Set password');
        await see('This link was used already');
        await enterPassword(SECOND);
        await fill('Code', await totp());
        await press('Go on');
        await page.waitForURL(`${origin}/overview`);
      },
      TEST_MS,
    );

    test(
      'ends when its owner wants it to',
      async () => {
        await page.goto(`${origin}/settings?tab=data`);
        await press('Delete my account');
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Password', { exact: true }).fill(SECOND);
        await dialog.getByRole('button', { name: 'Delete my account' }).click();
        await page.waitForURL(`${origin}/`);
        await enterPassword(SECOND);
        await see('The e-mail address or the password is not right.');
        expect(complaints).toEqual([]);
      },
      TEST_MS,
    );
  });
});

async function openContext(browser: Browser): Promise<BrowserContext> {
  const made = await browser.newContext({ reducedMotion: 'reduce' });
  made.setDefaultTimeout(STEP_MS);
  return made;
}
