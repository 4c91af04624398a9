import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, overflowOf, shareStage, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the price list in a browser', () => {
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'previews other prices and prints the YAML for them, which the YAML check accepts',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 360, height: 800 } });
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('account_id', '=', account.id).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/admin/models');
      await page.getByLabel('Search models').fill('sandbox echo');
      await page.getByRole('link', { name: 'sandbox/echo' }).click();

      const drawer = page.getByRole('dialog', { name: 'Sandbox Echo (canned)' });
      await drawer.getByText('in force').waitFor();
      await drawer.getByLabel('Output').fill('0.8');
      await drawer.getByRole('button', { name: 'Calculate' }).click();
      await drawer.getByText('output: 0.8 }').waitFor();
      const yaml = (await drawer.locator('pre').textContent()) ?? '';
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name: 'Check YAML' }).click();
      const check = page.getByRole('dialog', { name: 'Check YAML' });
      await check.getByLabel('YAML').fill(yaml.replace('output: 0.8', 'output: cheap'));
      await check.getByRole('button', { name: 'Check', exact: true }).click();
      await check.getByText('models[0].price.output').waitFor();
      await check.getByLabel('YAML').fill(yaml);
      await check.getByRole('button', { name: 'Check', exact: true }).click();
      await check.getByText('0 added, 1 changed, 0 unchanged.').waitFor();
      expect(await check.getByText('price.output').locator('..').textContent()).toContain('0.4 → 0.8 (+100%)');
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
