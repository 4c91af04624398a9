import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromiumPath, close } from '../services/chromium.ts';
import { shareStage, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('the models page in a browser', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'names the model in its copy buttons, checks the calculator, and prints the drawer below the list',
    async () => {
      const { context, page } = await stage.enter();
      await page.goto('/models');
      await page.getByRole('button', { name: 'Copy model ID sandbox/echo', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Sandbox Echo' }).click();
      const drawer = page.getByRole('dialog');
      await drawer.getByLabel('of which cached').fill('1001');
      await drawer.getByText('Cached tokens cannot exceed input tokens.').waitFor();
      await drawer.getByLabel('Input tokens').fill('1001');
      expect(await drawer.locator('[aria-invalid]').count()).toBe(0);
      await page.emulateMedia({ media: 'print' });
      const last = await page.getByText('3 models').boundingBox();
      const sheet = await drawer.boundingBox();
      expect(sheet?.y).toBeGreaterThan(last?.y ?? Infinity);
      expect(await page.locator('.bg-veil').isVisible()).toBe(false);
      await close(context);
    },
    TEST_MS,
  );
});
