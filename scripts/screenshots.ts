/**
 * `bun scripts/screenshots.ts [page …]`: takes screenshots of every page, light and dark, wide and narrow, into docs/screenshots.
 * They show a real gate with five weeks of traffic through `/v1`. Only overview.png, which the README shows, is kept in the repository.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { pagesOf } from '../test/browser/pages.ts';
import { openWorld, type World } from '../test/browser/world.ts';
import { chromiumPath, launchChromium } from '../test/services/chromium.ts';
import { buildWeb } from './build-web.ts';

const OUT = resolve(import.meta.dirname, '../docs/screenshots');
const SIZES = [
  { width: 1440, height: 900 },
  { width: 360, height: 800 },
] as const;
const SCHEMES = ['light', 'dark'] as const;
const QUIET_WITHIN_MS = 10_000;

const wanted = new Set(process.argv.slice(2));
if (chromiumPath === undefined) throw new Error('There is no Chromium. Install one, or set TEST_CHROMIUM to its path.');
if (!(await buildWeb())) process.exit(1);
await mkdir(OUT, { recursive: true });
const world = await openWorld({ days: 35, creditUsd: '100', isHealthy: true });
const browser = await launchChromium();
try {
  for (const viewport of SIZES) for (const colorScheme of SCHEMES) await takeScreenshots(browser, world, { viewport, colorScheme });
  if (wanted.size === 0 || wanted.has('overview')) await copyFile(join(OUT, 'overview-1440-light.png'), join(OUT, 'overview.png'));
} finally {
  await browser.close();
  await world.close();
}

interface Look {
  readonly viewport: (typeof SIZES)[number];
  readonly colorScheme: (typeof SCHEMES)[number];
}

async function takeScreenshots(on: Browser, of: World, look: Look): Promise<void> {
  const context = await on.newContext({ ...look, reducedMotion: 'reduce', timezoneId: 'Europe/Berlin', locale: 'en-GB' });
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`${page.url()}: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && console.error(`${page.url()}: ${message.text()}`));
  for (const [name, path, isFor] of pagesOf(of)) {
    if (wanted.size > 0 && !wanted.has(name)) continue;
    await context.clearCookies();
    if (isFor !== 'visitor') await context.addCookies([{ ...(isFor === 'user' ? of.cookie : of.operatorCookie), url: of.url }]);
    await page.goto(of.url + path);
    await page.waitForLoadState('networkidle', { timeout: QUIET_WITHIN_MS }).catch(() => undefined);
    const wideBy = Number(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
    if (wideBy > 0) console.error(`${name} is ${wideBy} px wider than ${look.viewport.width} px`);
    // A drawer covers only the window, so the full page is not captured.
    const fullPage = (await page.locator('[role=dialog]').count()) === 0;
    await page.screenshot({ path: join(OUT, `${name}-${look.viewport.width}-${look.colorScheme}.png`), fullPage });
  }
  await context.close();
}
