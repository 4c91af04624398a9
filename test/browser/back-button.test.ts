import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, overflowOf, shareStage, type Stage, type Visit } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('the Back button', () => {
  let stage: Stage;
  let visit: Visit;
  let keyId: string;
  beforeAll(async () => {
    stage = await shareStage();
    visit = await stage.enter({ viewport: { width: 360, height: 700 } });
    ({ id: keyId } = await stage.service.keys.create(visit.account.id, { name: 'ci-runner' }));
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(visit?.context);
    await stage?.close();
  });

  test(
    'undoes one choice of a filter at a time, and all of a typed search',
    async () => {
      const { page } = visit;
      await follow(page, 'API keys');
      const status = page.getByLabel('Status', { exact: true });
      await status.selectOption('active');
      await page.waitForURL(/status=active/u);
      await status.selectOption('disabled');
      await page.waitForURL(/status=disabled/u);
      await page.goBack();
      await page.waitForURL(/status=active/u);
      expect(await status.inputValue()).toBe('active');
      const search = page.getByRole('searchbox');
      for (const text of ['ci', 'ci-run']) {
        await search.fill(text);
        await page.waitForURL((url) => url.searchParams.get('q') === text);
      }
      await page.goBack();
      await page.waitForURL((url) => url.pathname === '/keys' && !url.searchParams.has('status'));
      expect(await search.inputValue()).toBe('');
      await page.goBack();
      await page.waitForURL('**/overview*');
    },
    TEST_MS,
  );

  test(
    'closes the details of a row, and leaves the page at once if they were closed before',
    async () => {
      const { page } = visit;
      await follow(page, 'Models');
      const drawer = page.getByRole('dialog');
      const open = () => page.getByRole('link', { name: 'Echo' }).first().click();
      await open();
      await drawer.waitFor();
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe('/models');
      await open();
      await drawer.getByRole('button', { name: 'Close' }).click();
      await drawer.waitFor({ state: 'detached' });
      await page.goBack();
      await page.waitForURL('**/overview*');
    },
    TEST_MS,
  );

  test(
    'closes a question, the menu and an untouched form in front of the page',
    async () => {
      const { page } = visit;
      await follow(page, 'API keys');
      await page.getByRole('link', { name: 'ci-runner' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Open menu' }).click();
      await dialog.waitFor();
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe(`/keys/${keyId}`);
      await follow(page, 'Alerts');
      await page.getByRole('button', { name: 'Add alert' }).first().click();
      await dialog.waitFor();
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Add alert' }).first().click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe('/alerts');
      await page.goBack();
      await page.waitForURL('**/overview*');
    },
    TEST_MS,
  );

  test(
    'and Escape ask before they throw away what was typed',
    async () => {
      const { page } = visit;
      await follow(page, 'API keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      const name = page.getByRole('dialog').getByLabel('Name', { exact: true });
      const question = page.getByText('Discard what you have entered?');
      await name.fill('half a na');
      await page.goBack();
      await question.waitFor();
      expect([await overflowOf(page), await findBarriers(page)]).toEqual([0, []]);
      await page.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await question.waitFor();
      await page.locator('button:focus', { hasText: 'Keep editing' }).waitFor();
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      expect(await name.inputValue()).toBe('half a na');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Discard' }).click();
      await name.waitFor({ state: 'detached' });
      expect(new URL(page.url()).pathname).toBe('/keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      expect(await name.inputValue()).toBe('');
    },
    TEST_MS,
  );
});

/** Opens the overview and follows a link of its navigation. */
async function follow(page: Page, name: string): Promise<void> {
  await page.goto('/overview');
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('dialog').getByRole('link', { name, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}
