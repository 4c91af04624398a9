import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { buildPages } from '../services/built.ts';
import { chromiumPath, close, launchChromium } from '../services/chromium.ts';
import { AXE, RUN_AXE } from './key-stage.ts';
import { pagesOf, type Audience } from './pages.ts';
import { settled } from './settled.ts';
import { openWorld, type World } from './world.ts';

/** Checks every page: no overflow, no content policy violation, no accessibility violation. */

const NARROW = { width: 360, height: 800 };
const WIDE = { width: 1440, height: 900 };
/** A very small phone. */
const SHORT = { width: 360, height: 500 };
/** A low window beside another one. */
const SHORT_WIDE = { width: 1280, height: 500 };
/** The index of the focusable element in the table from which the keyboard goes backwards. */
const FOCUSED_AT = 20;
/** Widths from large screens with the navigation beside the page, down to tablets and phones in landscape. */
const BETWEEN = [1440, 1280, 1024, 900, 768, 600, 480] as const;
const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

let world: World;
let browser: Browser;
/** One page for each kind of visitor: opening a new one takes longer than the check itself. */
let pages: Readonly<Record<Audience, Page>>;

describe.skipIf(chromiumPath === undefined)('every page', () => {
  beforeAll(async () => {
    await buildPages();
    world = await openWorld({ days: 1 });
    browser = await launchChromium();
    pages = {
      visitor: await openPage(),
      user: await openPage([{ ...world.cookie, url: world.url }]),
      operator: await openPage([{ ...world.operatorCookie, url: world.url }]),
    };
    // Sending it to each page anew would take twice as long.
    for (const page of Object.values(pages)) await page.addInitScript(AXE);
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(browser);
    await world?.close();
  });

  test.each(pagesOf({ accountId: '', keyId: '', requestId: '', refusedId: '' }).map(([name], index) => [name, index] as const))(
    '%s has no layout or accessibility fault, wide and light, narrow and dark',
    async (_, index) => {
      const [name, path, isFor] = pagesOf(world)[index] ?? ['', '/', 'visitor'];
      const page = pages[isFor];
      const complaints = listen(page);
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: 'light' });
      const answer = await page.goto(world.url + path);
      expect(answer?.status()).toBe(name === 'not-found' ? 404 : 200);
      await settled(page);
      expect(await look(page)).toEqual(FAULTLESS);
      await page.evaluate(WIDEN_AMOUNTS);
      for (const width of BETWEEN) {
        await page.setViewportSize({ ...WIDE, width });
        expect([width, await measure(page)]).toEqual([width, { wideBy: 0, cutLists: [] }]);
      }
      await page.setViewportSize(NARROW);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await look(page)).toEqual(FAULTLESS);
      expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
      expect(await page.title()).toEndWith('Tollgate');
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test.each(['/', '/overview', '/playground'])(
    'the first load of %s stays below 200 kB of compressed script in a few files',
    async (path) => {
      const page = await openPage(path === '/' ? [] : [{ ...world.cookie, url: world.url }]);
      const sizes: number[] = [];
      page.on('response', (response) => {
        if (response.url().endsWith('.js')) sizes.push(Number(response.headers()['content-length']));
      });
      await page.goto(world.url + path);
      await settled(page);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeWithin(50_000, SCRIPT_BYTES_MAX);
      expect(sizes.length).toBeLessThanOrEqual(SCRIPTS_MAX);
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'text follows the browser’s font size, and nothing overflows the page',
    async () => {
      const page = await enter({ width: 1280, height: 900 });
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
      for (const path of ['/overview', '/keys', '/billing', '/settings']) {
        await page.goto(world.url + path);
        await settled(page);
        const size = await page.evaluate(`getComputedStyle(document.querySelector('main header p')).fontSize`);
        expect([path, size, (await measure(page))['wideBy']]).toEqual([path, '28px', 0]);
      }
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'both days of a range are in view at 400% zoom',
    async () => {
      const page = await enter({ width: 320, height: 256 });
      for (const path of ['/billing', '/usage?range=custom&from=2026-01-01&to=2026-01-31']) {
        await page.goto(world.url + path);
        const day = page.getByRole('main').locator('input[type=date]').last();
        await day.waitFor();
        const { x = 0, width = Infinity } = (await day.boundingBox()) ?? {};
        expect(x + width).toBeLessThan(305);
      }
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'an element focused by Shift+Tab is not hidden behind a sticky element',
    async () => {
      const own = await enter(SHORT_WIDE);
      const operators = await openPage([{ ...world.operatorCookie, url: world.url }]);
      for (const [page, path, size] of [
        [own, '/requests', SHORT_WIDE],
        [own, '/requests', SHORT],
        [operators, `/admin/view/${world.accountId}/requests`, SHORT_WIDE],
      ] as const) {
        await page.setViewportSize(size);
        await page.goto(world.url + path);
        const steps = page.locator('tbody :is(a, button)').filter({ visible: true });
        await steps.nth(FOCUSED_AT).focus();
        for (let step = FOCUSED_AT; step > 0; step -= 1) {
          await page.keyboard.press('Shift+Tab');
          expect([path, size.width, step, await page.evaluate(WHAT_HIDES_THE_FOCUS)]).toEqual([path, size.width, step, '']);
        }
      }
      await close(own.context());
      await close(operators.context());
    },
    TEST_MS,
  );

  test(
    'numbers use the chosen format',
    async () => {
      const page = await enter(WIDE);
      await page.addInitScript(`localStorage.setItem('tollgate.number-format', 'de-CH')`);
      for (const path of ['/overview', '/plans', '/models', '/usage', `/keys/${world.keyId}`, `/requests?request=${world.requestId}`]) {
        await page.goto(world.url + path);
        await settled(page);
        // The Swiss format has no commas.
        expect([path, /\S*\d,\d\S*/u.exec(await page.locator('body').innerText())?.[0]]).toEqual([path, undefined]);
      }
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'a choice in the middle of a page keeps the scroll position',
    async () => {
      const page = await enter(SHORT);
      for (const [path, choice] of [
        ['/overview', 'Key'],
        ['/start', 'Python'],
        ['/playground', 'Python'],
      ] as const) {
        await page.goto(world.url + path);
        await settled(page);
        const button = page.getByRole('button', { name: choice, exact: true });
        await button.scrollIntoViewIfNeeded();
        const y = Number(await page.evaluate('scrollY'));
        expect(y).toBePositive();
        await button.click();
        await page.waitForURL(/by=key|snippet=/u);
        await settled(page);
        expect([path, await page.evaluate('scrollY')]).toEqual([path, y]);
      }
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'a request opens in a new tab, and in the same tab without scrolling the page',
    async () => {
      const page = await enter(SHORT);
      await page.goto(`${world.url}/requests?status=ok`);
      const row = page.getByRole('region', { name: 'Requests, newest first' }).locator('tbody tr:has(a)').nth(2);
      const link = row.getByRole('link');
      const opening = page.context().waitForEvent('page');
      await link.click({ modifiers: ['ControlOrMeta'] });
      const tab = await opening;
      await tab.getByRole('dialog').waitFor();
      expect(tab.url()).toMatch(/status=ok.*request=req_/u);
      await settled(page);
      for (const opener of [link, row]) {
        await opener.scrollIntoViewIfNeeded();
        const y = Number(await page.evaluate('scrollY'));
        expect(y).toBePositive();
        await opener.click();
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        expect(await page.evaluate('scrollY')).toBe(y);
      }
      await close(page.context());
    },
    TEST_MS,
  );
});

type Cookie = Parameters<BrowserContext['addCookies']>[0][number];

const SCRIPT_BYTES_MAX = 200_000;
const SCRIPTS_MAX = 20;
const FAULTLESS = { wideBy: 0, cutLists: [], headings: 1, violations: [] };

async function openPage(cookies: readonly Cookie[] = []): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.addCookies(cookies);
  return context.newPage();
}

/** Opens a page of the signed-in user in a window of this size. */
async function enter(size: { width: number; height: number }): Promise<Page> {
  const page = await openPage([{ ...world.cookie, url: world.url }]);
  await page.setViewportSize(size);
  return page;
}

async function look(page: Page): Promise<Record<string, unknown>> {
  return { ...(await measure(page)), headings: await page.locator('h1').count(), violations: await page.evaluate(RUN_AXE) };
}

/** Returns by how much the page is too wide, and which tables scroll sideways. */
function measure(page: Page): Promise<Record<string, unknown>> {
  return page.evaluate(MEASURE);
}

/** Replaces amounts by a long one: a table must have room for the amounts of other accounts, too. */
const WIDEN_AMOUNTS = `for (const cell of document.querySelectorAll('td')) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (/^\\$[0-9.,]+$/.test(texts.currentNode.data)) texts.currentNode.data = '$12,345.67';
}`;

/** Finds short words in tables that are broken across lines. Even on a phone, each of them fits one line. */
const BROKEN_WORDS = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, ({ parentElement }) =>
    parentElement.closest('td') && !parentElement.closest('.sr-only') ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const found = [];
  while (texts.nextNode()) for (const { 0: word, index } of texts.currentNode.data.matchAll(/[a-z]{2,10}/gi)) {
    const range = document.createRange();
    range.setStart(texts.currentNode, index);
    range.setEnd(texts.currentNode, index + word.length);
    if (new Set([...range.getClientRects()].map(({ y }) => Math.round(y))).size > 1) found.push(word + ' in ' + texts.currentNode.data);
  }
  return found;
})()`;

const WHAT_HIDES_THE_FOCUS = `((focused) => {
  const { x, y, width, height } = focused.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return focused.contains(top) || top?.contains(focused) ? '' : 'over ' + focused.outerHTML + ': ' + top?.outerHTML.slice(0, 200);
})(document.activeElement)`;

const MEASURE = `({
  wideBy: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
  cutLists: [...document.querySelectorAll('[role=region]')]
    .filter((list) => list.scrollWidth > list.clientWidth).map((list) => list.getAttribute('aria-label')),
})`;

/** Collects what the browser reports: script errors, and resources refused or not found. */
function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Chromium reports an unknown page as an error of its own.
    if (message.location().url.endsWith('/nowhere')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return complaints;
}
