import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, shareStage, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('pages whose scripts do not arrive', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'a page, chart or menu whose script cannot be loaded says so beside the navigation, and can be loaded again',
    async () => {
      const { context, page } = await stage.enter();
      const failed = page.getByText('This could not be loaded. Check your connection, then try again.');
      await page.goto('/keys');
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await context.setOffline(true);
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('alertdialog').getByText('Could not reach the server.').waitFor();
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.getByRole('link', { name: 'Playground' }).click();
      await failed.waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alertdialog').getByText('Could not reach the server.').waitFor();
      await context.setOffline(false);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
      const scripts = /assets\/(?:bar|line)-drawing-.*\.js/u;
      await page.route(scripts, (route) => route.fulfill({ status: 404 }));
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('figure').getByText('This could not be loaded.').waitFor();
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      await page.unroute(scripts);
      await page.getByRole('button', { name: 'Try again' }).click();
      await failed.waitFor({ state: 'detached' });
      await page.getByRole('figure').getByRole('img').first().waitFor();
      await close(context);
    },
    TEST_MS,
  );

  test(
    'the first page says how to go on if its scripts do not arrive',
    async () => {
      const { context, page } = await stage.enter();
      await page.route(/assets\/.*\.js/u, (route) => route.abort());
      await page.goto('/keys');
      const again = page.getByRole('link', { name: 'load the page again' });
      expect(await again.isVisible()).toBe(false);
      await again.waitFor();
      await page.unroute(/assets\/.*\.js/u);
      await again.click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await close(context);
    },
    TEST_MS,
  );
});
