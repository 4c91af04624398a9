import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kysely } from 'kysely';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Account } from '../../src/accounts/accounts.ts';
import { loadConfig } from '../../src/config.ts';
import { connect } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import type { Reach } from '../../src/http/fetch-media.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { serve, type Service } from '../../src/serve.ts';
import { buildPages } from '../services/built.ts';
import { close, launchChromium } from '../services/chromium.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';

/** The minified source: a page reads it in half the time. */
export const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** No rule in use reads style sheets, which axe would parse in every run. */
export const RUN_AXE = `axe.run({ resultTypes: ['violations'], preload: { assets: ['media'] } }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;
export const PASSWORD = 'correct horse battery';
/** What Playwright uses unless it is told otherwise. */
const VIEWPORT = { width: 1280, height: 720 };
const PLAYWRIGHT_WITHIN_MS = 30_000;

export interface StageOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly reach?: Reach;
}

/** A real server with its pages, and a real browser. */
export interface Stage {
  readonly service: Service;
  readonly browser: Browser;
  readonly database: Kysely<Tables>;
  /** Opens a browser context of a new user with ten dollars of credit. */
  enter(options?: Parameters<Browser['newContext']>[0]): Promise<Visit>;
  /**
   * Does the same in the tab of the last user who came this way, whose visit is over: a new context, and the first page in it, take most of
   * a second of a core.
   */
  enterSameTab(look?: Look): Promise<Visit>;
  close(): Promise<void>;
}

/** What a tab can change; anything else needs a context of its own. */
export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly account: Account;
  /** Errors and warnings that the browser logged. */
  readonly complaints: readonly string[];
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  await buildPages();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'));
  const file = join(folder, 'tollgate.yaml');
  writeFileSync(file, JSON.stringify(options.settings ?? {}));
  const environment = { HOST: '127.0.0.1', PORT: '0', TOLLGATE_DATA: folder, TOLLGATE_CONFIG: file, TOLLGATE_LOG_LEVEL: 'error' };
  const databasePath = join(folder, 'tollgate.db');
  await placeMigratedDatabase(databasePath);
  const service = await serve(loadConfig({ ...environment, ...options.environment }), options.reach);
  const { kysely: database } = await connect({ databaseUrl: undefined, databasePath });
  // Whatever happens to the tests, or if nobody closes the stage because files share it.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const browser = await launchChromium();
  const opened = { service, browser, database };
  let last: Visit | undefined;
  return {
    ...opened,
    enter: (contextOptions = {}) => enter(opened, contextOptions),
    enterSameTab: async (look = {}) => {
      if (last === undefined || last.page.isClosed()) last = await enter(opened, look);
      else last = await enterSameTab(opened, last, look);
      return last;
    },
    close: async () => {
      await close(browser);
      await service.drain();
      await database.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Joins the stage without settings that files share whose tests look only at users of their own: one more would take three seconds of a core.
 * Closing it closes this file's contexts. The browser and the server end with the process.
 */
export async function shareStage(): Promise<Stage> {
  shared ??= openStage();
  const stage = await shared;
  // Only so many users may sign up in an hour.
  await stage.database.deleteFrom('auth_rate_limits').execute();
  return {
    ...stage,
    close: async () => {
      await Promise.all(stage.browser.contexts().map(close));
    },
  };
}

let shared: Promise<Stage> | undefined;

interface Opened {
  readonly service: Service;
  readonly browser: Browser;
  readonly database: Kysely<Tables>;
}

async function enter(opened: Opened, options: Parameters<Browser['newContext']>[0]): Promise<Visit> {
  const context = await opened.browser.newContext({ baseURL: opened.service.url, reducedMotion: 'reduce', ...options });
  return visit(await context.newPage(), await signUp(opened, context));
}

/** Leaves nothing of the earlier user behind in the tab, nor of what the test did to it. */
async function enterSameTab(
  opened: Opened,
  { context, page }: Visit,
  { viewport = VIEWPORT, colorScheme = 'light' }: Look,
): Promise<Visit> {
  await Promise.all([context, page].map((each) => each.unrouteAll({ behavior: 'ignoreErrors' })));
  await Promise.all(context.pages().map((each) => (each === page ? undefined : each.close())));
  await context.setOffline(false);
  // A page without scripts: one of the dashboard would notice that its user has changed.
  await page.goto('/healthz');
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await context.clearCookies();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  page.setDefaultTimeout(PLAYWRIGHT_WITHIN_MS);
  for (const event of ['pageerror', 'console', 'dialog']) page.removeAllListeners(event);
  return visit(page, await signUp(opened, context));
}

/** Creates a user with ten dollars of credit, who is then signed in. */
async function signUp({ service, database }: Opened, context: BrowserContext): Promise<Account> {
  const email = `${crypto.randomUUID()}@example.com`;
  const send = async (path: string, data: Readonly<Record<string, string>>): Promise<void> => {
    const answer = await context.request.post(`/api/auth/${path}`, { data, headers: { origin: service.url } });
    if (!answer.ok()) throw new Error(`${path} was refused: ${await answer.text()}`);
  };
  await send('sign-up/email', { name: 'Ada', email, password: PASSWORD });
  // With a mail server, signing in needs a verified address. Verification has its own tests.
  await database.updateTable('people').set({ email_verified: 1 }).where('email', '=', email).execute();
  const isSignedIn = async (): Promise<boolean> => (await context.request.get('/api/account')).ok();
  // Checking a password takes a tenth of a second of a core, and only a mail server keeps a sign-up from signing in.
  if (!(await isSignedIn())) {
    await send('sign-in/email', { email, password: PASSWORD });
    if (!(await isSignedIn())) throw new Error('signing in created no session');
  }
  const account = await service.accounts.find(email);
  if (account === undefined) throw new Error('signing up created no account');
  await service.accounts.credit(account, asNanos(10_000_000_000n), { reason: 'test', actor: 'test' });
  return account;
}

function visit(page: Page, account: Account): Visit {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return { context: page.context(), page, account, complaints };
}

/** Returns the accessibility violations that axe finds on the page. */
export async function findBarriers(page: Page): Promise<unknown> {
  // The page may have been looked at before.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE);
  return page.evaluate(RUN_AXE);
}

/** Returns by how many pixels the page is wider than its window. */
export async function overflowOf(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
