import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, shareStage, type Stage } from './key-stage.ts';
import { settled } from './settled.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const PAGES = [
  'overview',
  'keys',
  'usage',
  'requests',
  'billing',
  'plans',
  'alerts',
  'playground',
  'start',
  'settings',
  'settings?tab=security',
];

describe.skipIf(chromiumPath === undefined)('pages when the server fails', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'every part shows the error and a retry instead of loading forever',
    async () => {
      const { page } = await stage.enterSameTab();
      await fail(page, 429);
      for (const path of PAGES) {
        await page.goto(`/${path}`);
        await page.getByRole('alert').first().waitFor();
        await page.waitForLoadState('networkidle');
        expect([path, await page.locator('main .animate-shimmer').count()]).toEqual([path, 0]);
        expect([path, await findBarriers(page)]).toEqual([path, []]);
      }
    },
    TEST_MS,
  );

  test(
    'shown data and typed text stay when a refresh fails, and a list says that its data is older',
    async () => {
      const { context, page } = await stage.enter();
      await page.clock.install();
      await context.request.post('/api/keys', { data: { name: 'kept' }, headers: { origin: stage.service.url } });
      await page.goto('/keys');
      await page.getByRole('link', { name: 'kept' }).waitFor();
      await fail(page, 429);
      await page.clock.runFor(60_000);
      await page.getByText('Showing older data: Enough of this.').waitFor();
      expect(await page.getByRole('link', { name: 'kept' }).count()).toBe(1);
      expect(await findBarriers(page)).toEqual([]);
      await page.unroute('**/api/**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('Showing older data').waitFor({ state: 'detached' });
      await page.goto('/settings');
      await page.getByLabel('Name', { exact: true }).fill('Somebody else');
      await fail(page, 429);
      await page.clock.runFor(60_000);
      const asked = page.waitForResponse('**/api/settings');
      await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
      await (await asked).finished();
      await page.waitForLoadState('networkidle');
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Somebody else');
      await close(context);
    },
    TEST_MS,
  );

  test(
    'a page whose account is slow or fails to load is not blank and can be retried',
    async () => {
      const { page } = await stage.enterSameTab();
      let isBroken = true;
      await page.route('**/api/account', async (route) => {
        await Bun.sleep(2000);
        if (isBroken) await route.fulfill({ status: 429, json: { error: { code: 'broken', message: 'Enough of this.' } } });
        else await route.fallback();
      });
      await page.goto('/keys');
      await page.getByRole('heading', { name: 'Loading…' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('heading', { name: 'Could not open this page' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      isBroken = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    },
    TEST_MS,
  );

  test(
    'a page whose script is slow says that it is loading, on the first load and beside the navigation',
    async () => {
      const { page } = await stage.enterSameTab();
      const [released, release] = deferred();
      await page.route(/assets\/index-\w+\.js/u, async (route) => released.then(() => route.fallback()));
      await page.goto('/keys', { waitUntil: 'commit' });
      await page.getByText('Loading…').waitFor();
      release();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      const [releasedToo, releaseToo] = deferred();
      await page.route(/assets\/.*\.js/u, async (route) => releasedToo.then(() => route.fallback()));
      await page.getByRole('link', { name: 'Playground' }).click();
      await page.getByRole('main').getByRole('heading', { name: 'Loading…' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      releaseToo();
      await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    },
    TEST_MS,
  );

  test(
    'the playground explains why an answer is incomplete',
    async () => {
      const { page } = await stage.enterSameTab();
      await page.goto('/playground');
      const ask = async (answer: Parameters<Page['route']>[1], message: string): Promise<void> => {
        await page.route('**/v1/chat/completions', answer);
        await page.getByLabel('Message').fill('Hello');
        await page.keyboard.press('Enter');
        await page.getByRole('log').getByText(message).waitFor();
        await page.unroute('**/v1/chat/completions');
      };
      const half = 'data: {"choices":[{"delta":{"content":"Half of"}}]}\n\n';
      await ask((route) => route.abort(), 'Could not reach the server.');
      await ask(
        (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<html>' }),
        'The server responded with status 502. Try again in a moment.',
      );
      await ask(
        (route) => route.fulfill({ contentType: 'text/event-stream', body: half }),
        'The connection was lost before the answer was complete.',
      );
      await page.getByRole('log').getByText('Half of').waitFor();
    },
    TEST_MS,
  );

  test(
    'the landing page drops the example when it cannot be loaded',
    async () => {
      const page = await stage.browser.newPage({ baseURL: stage.service.url });
      await fail(page, 429);
      await page.goto('/');
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.animate-shimmer').first().waitFor({ state: 'detached' });
      await close(page.context());
    },
    TEST_MS,
  );

  test(
    'a failed deletion of a saved view shows the error',
    async () => {
      const { context, page } = await stage.enterSameTab();
      const view = { page: 'usage', name: 'by key', search: 'group=key' };
      await context.request.put('/api/usage/views', { data: view, headers: { origin: stage.service.url } });
      await page.goto('/usage');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: 'Delete a view' }).click();
      await fail(page, 429);
      await page.getByRole('button', { name: 'Delete view by key' }).click();
      await page.getByRole('alertdialog').getByText('Enough of this.').waitFor();
    },
    TEST_MS,
  );

  test(
    'a change made offline fails at once instead of waiting to be made later',
    async () => {
      const { context, page } = await stage.enterSameTab();
      await page.goto('/settings');
      const name = page.getByLabel('Name', { exact: true });
      await name.fill('Somebody else');
      await context.setOffline(true);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('region', { name: 'Profile' }).getByText('Could not reach the server.').waitFor();
      await context.setOffline(false);
      expect(await name.inputValue()).toBe('Somebody else');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await page.getByText('Saved', { exact: true }).count()).toBe(1);
    },
    TEST_MS,
  );

  test(
    'a text that cannot be copied is selected, and the page says so',
    async () => {
      const { page } = await stage.enterSameTab();
      await page.goto('/models');
      await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('no permission'))`);
      await page.getByRole('button', { name: /^Copy model ID sandbox\/echo/u }).click();
      await page.getByRole('alertdialog').getByText('Could not copy').waitFor();
      expect(await page.evaluate('getSelection().toString()')).toBe('sandbox/echo');
    },
    TEST_MS,
  );

  test(
    'lists inside of menus and forms that fail to load say so and can be loaded again',
    async () => {
      const { page } = await stage.enterSameTab();
      await fail(page, 429);
      await page.goto('/usage');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menu').getByText('Enough of this.').waitFor();
      await page.unroute('**/api/**');
      await page.getByRole('menuitem', { name: 'Try again' }).click();
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menu').getByText('No saved views yet.').waitFor();
      await fail(page, 429);
      await page.goto('/keys?create=open');
      await page.getByText('Models, IPs and tags').click();
      await page.getByRole('dialog').getByText('Enough of this.').waitFor();
      await page.unroute('**/api/**');
      await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('group', { name: 'Denied models' }).getByLabel('sandbox/echo').waitFor();
    },
    TEST_MS,
  );

  test(
    'a figure or chart that can no longer be refreshed says that it is older',
    async () => {
      const { context, page } = await stage.enter();
      await page.clock.install();
      await page.goto('/overview');
      await page.getByText('No usage yet').first().waitFor();
      await settled(page);
      await fail(page, 429);
      await page.clock.runFor(60_000);
      for (let shown = 0; shown < 3; shown += 1) await page.getByText('Showing older data: Enough of this.').nth(shown).waitFor();
      await close(context);
    },
    TEST_MS,
  );

  test(
    'a failed change shows the error in a toast',
    async () => {
      const { page } = await stage.enterSameTab();
      await page.goto('/settings?tab=data');
      await page.getByRole('switch').waitFor();
      await fail(page, 500);
      await page.getByRole('switch').click();
      await page.getByRole('alertdialog').getByText('Enough of this.').waitFor();
      expect(await findBarriers(page)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a long word in an error does not overflow the toast',
    async () => {
      const { page } = await stage.enterSameTab({ viewport: { width: 360, height: 700 } });
      await page.goto('/settings?tab=data');
      await page.getByRole('switch').waitFor();
      await fail(page, 500, 'x'.repeat(200));
      await page.getByRole('switch').click();
      const word = page.getByRole('alertdialog').getByText('xxx');
      await word.waitFor();
      const { x = 0, width = Infinity } = (await word.boundingBox()) ?? {};
      expect(x + width).toBeLessThan(360);
      expect(
        await page.evaluate(
          `[...document.querySelectorAll('[role=alertdialog] *')].filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0).length`,
        ),
      ).toBe(0);
    },
    TEST_MS,
  );
});

/** Returns a promise and the function that resolves it. */
function deferred(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [promise, resolve];
}

/** Makes every API request fail, except those a page needs to render at all. */
async function fail(page: Page, status: number, message = 'Enough of this.'): Promise<void> {
  await page.route('**/api/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/api/account' || pathname === '/api/setup') await route.fallback();
    else await route.fulfill({ status, json: { error: { code: 'broken', message } } });
  });
}
