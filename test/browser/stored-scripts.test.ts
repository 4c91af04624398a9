import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { buildWeb } from '../../scripts/build-web.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { loadConfig } from '../../src/config.ts';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { serve, type Service } from '../../src/serve.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findFreePort } from '../services/free-port.ts';

/** Texts that would run, load or break something if a page took them for anything but text. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  "'-alert(3)-'",
  '<svg/onload=alert(4)>',
  'javascript:alert(5)',
  '{{constructor.constructor("alert(6)")()}}',
  '</title><style>*{display:none}</style>',
  '<iframe srcdoc="<script>parent.alert(7)</script>">',
  '\u202Etxt.exe <b>bold</b>',
];
const PAGES = ['/overview', '/start', '/keys', '/usage', '/requests', '/billing', '/plans', '/alerts', '/playground'];
const TABS = ['profile', 'security', 'sessions', 'data'];
const TEST_MS = 120_000;
const QUIET_MS = 400;

describe.skipIf(chromiumPath === undefined)('texts of people', () => {
  let browser: Browser;
  let service: Service;
  let database: OpenDatabase;
  let folder: string;
  let origin: string;

  beforeAll(async () => {
    expect(await buildWeb()).toBe(true);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-scripts-'));
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    const config = loadConfig({ PORT: String(port), PUBLIC_URL: origin, TOLLGATE_DATA: folder, TOLLGATE_LOG_LEVEL: 'silent' });
    service = await serve(config);
    database = await connect(config);
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await database?.kysely.destroy();
    await service?.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(origin + path, {
      method: path === '/api/settings' ? 'PATCH' : 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test(
    'are shown and never run, on any page, and our own content policy has nothing to refuse',
    async () => {
      // A browser's own description is somebody's text as well.
      const signedUp = await post(
        '/api/auth/sign-up/email',
        { email: "o'script@example.com", password: 'correct horse battery' },
        { 'user-agent': HOSTILE.slice(0, -1).join(' ') },
      );
      expect(signedUp.status).toBe(200);
      const [cookie = ''] = signedUp.headers.getSetCookie();
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
      const headers = { cookie: `${name}=${value}` };
      const account = (await (await fetch(`${origin}/api/account`, { headers })).json()) as { id: string };
      for (const text of HOSTILE) await new Keys(database.kysely).create(account.id, { name: text });
      expect((await post('/api/settings', { name: HOSTILE.join(' ').replaceAll('\u202E', '').slice(0, 100) }, headers)).status).toBe(200);

      const context = await browser.newContext({ reducedMotion: 'reduce' });
      await context.addCookies([{ name, value, url: origin }]);
      const page = await context.newPage();
      const events: string[] = [];
      page.on('dialog', (dialog) => {
        events.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('console', (message) => {
        if (/content.security.policy|refused to/iu.test(message.text())) events.push(message.text());
      });
      page.on('pageerror', (error) => events.push(error.message));
      for (const path of [...PAGES, ...TABS.map((tab) => `/settings?tab=${tab}`)]) {
        await page.goto(origin + path, { waitUntil: 'load' });
        await page.locator('h1').first().waitFor();
        await page.waitForTimeout(QUIET_MS);
        expect([path, events]).toEqual([path, []]);
        expect(new URL(page.url()).pathname).toBe(path.split('?')[0] ?? '');
      }
      await page.goto(`${origin}/settings?tab=profile`);
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toStartWith('<script>alert(1)</script>');
      await context.close();
    },
    TEST_MS,
  );

  test(
    'in addresses are not run either',
    async () => {
      const page = await browser.newPage();
      const events: string[] = [];
      page.on('dialog', (dialog) => {
        events.push(dialog.message());
        void dialog.dismiss();
      });
      for (const text of HOSTILE.slice(0, 5)) {
        const hostile = encodeURIComponent(text);
        for (const path of [
          `/sign-up?code=${hostile}`,
          `/verify?email=${hostile}`,
          `/reset?token=${hostile}`,
          `/sign-in?to=${hostile}`,
          `/setup?token=${hostile}`,
        ]) {
          await page.goto(origin + path, { waitUntil: 'load' });
          await page.locator('h1').first().waitFor();
        }
      }
      expect(events).toEqual([]);
      await page.close();
    },
    TEST_MS,
  );
});
