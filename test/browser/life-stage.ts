import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { loadConfig } from '../../src/config.ts';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { serve, type Service } from '../../src/serve.ts';
import { openMailbox, type Mailbox } from '../dashboard/mailbox.ts';
import type { Store } from '../dashboard/stores.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { findFreePort } from '../services/free-port.ts';

export const EMAIL = 'ada@example.com';
const STEP_MS = 20_000;

/** The real server with its pages, a real mail server, and the browser of a visitor without an account. */
export class LifeStage {
  readonly origin: string;
  readonly mailbox: Mailbox;
  readonly service: Service;
  readonly database: OpenDatabase;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Script errors and content policy violations that the browser reported. */
  readonly complaints: string[] = [];
  readonly #remove: () => Promise<void>;

  private constructor(
    parts: Pick<LifeStage, 'origin' | 'mailbox' | 'service' | 'database' | 'context' | 'page'>,
    remove: () => Promise<void>,
  ) {
    this.origin = parts.origin;
    this.mailbox = parts.mailbox;
    this.service = parts.service;
    this.database = parts.database;
    this.context = parts.context;
    this.page = parts.page;
    this.#remove = remove;
    this.page.on('pageerror', (error) => this.complaints.push(error.message));
    this.page.on('console', (message) => {
      if (/content.security.policy/iu.test(message.text())) this.complaints.push(message.text());
    });
  }

  static async open(store: Store, browser: Browser, variables: Readonly<Record<string, string>> = {}): Promise<LifeStage> {
    const mailbox = await openMailbox();
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-account-'));
    const port = await findFreePort();
    const origin = `http://localhost:${port}`;
    const config = loadConfig({
      ...(store.databaseUrl !== undefined && { DATABASE_URL: store.databaseUrl }),
      PORT: String(port),
      PUBLIC_URL: origin,
      TOLLGATE_DATA: folder,
      TOLLGATE_LOG_LEVEL: 'silent',
      SMTP_URL: mailbox.url,
      ...variables,
    });
    if (store.databaseUrl === undefined) await placeMigratedDatabase(join(folder, 'tollgate.db'));
    const database = await connect(config);
    const service = await serve(config);
    const context = await openContext(browser);
    return new LifeStage({ origin, mailbox, service, database, context, page: await context.newPage() }, async () => {
      await service.drain();
      await database.kysely.destroy();
      await mailbox.close();
      await store.remove();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  close(): Promise<void> {
    return this.#remove();
  }

  async visit(path: string): Promise<void> {
    await this.page.goto(this.origin + path);
  }

  /** Waits for a path, with or without the time zone that some pages add to it, or for a pattern of URLs. */
  arrive(path: string | RegExp): Promise<void> {
    return this.page.waitForURL(typeof path === 'string' ? isAt(this.origin + path) : path);
  }

  fill(label: string, text: string): Promise<void> {
    return this.page.getByLabel(label, { exact: true }).fill(text);
  }

  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  see(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor();
  }

  async read(text: RegExp): Promise<string> {
    return (await this.page.getByText(text).first().textContent()) ?? '';
  }

  dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  async signOut(): Promise<void> {
    await this.page.getByRole('button', { name: /^Account/u }).click();
    await this.page.getByRole('menuitem', { name: 'Sign out' }).click();
    await this.arrive('/');
  }

  async enterPassword(password: string): Promise<void> {
    await this.visit('/sign-in');
    await this.fill('Email address', EMAIL);
    await this.fill('Password', password);
    await this.press('Sign in');
  }

  /** Reads the secret from the dialog that shows it once, and closes the dialog. */
  async storeSecret(): Promise<string> {
    const dialog = this.page.getByRole('dialog', { name: 'Store this secret now' });
    const secret = (await dialog.locator('code').first().textContent()) ?? '';
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    return secret;
  }
}

/** Opens a context without cookies, like another device. It is closed with the browser: closing a context alone sometimes hangs. */
async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', acceptDownloads: true, viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(STEP_MS);
  return context;
}

/** Signs the same person in with another browser context, which stays on the overview page. */
export async function signInElsewhere(
  browser: Browser,
  origin: string,
  { password, recoveryCode }: { readonly password: string; readonly recoveryCode: string },
): Promise<BrowserContext> {
  const context = await openContext(browser);
  const page = await context.newPage();
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('Email address', { exact: true }).fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCode);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(isAt(`${origin}/overview`));
  return context;
}

function isAt(address: string): (url: URL) => boolean {
  return ({ origin, pathname }) => origin + pathname === address;
}
