import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Subscriptions } from '../../src/accounts/subscriptions.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, openStage, overflowOf, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const SEEN_WITHIN_MS = 60_000;
const PLANS = [{ id: 'walker', name: 'Walker', price_usd: 10, included_usd: 12 }];

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the operator’s plans in a browser', () => {
  beforeAll(async () => {
    stage = await openStage({ settings: { plans: PLANS } });
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'are created, changed for new periods, opened and taken off offer',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', account.email).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/admin/plans');
      await page.getByRole('link', { name: 'Walker' }).click();
      await page.getByText('No subscribers yet').waitFor();
      expect(await page.getByRole('button', { name: 'Stop offering' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Close' }).click();

      await page.getByRole('button', { name: 'Create plan' }).click();
      await page.getByLabel('ID', { exact: true }).fill('Runner');
      await page.getByLabel('Name').fill('Runner');
      await page.getByLabel('Price per period').fill('9');
      await page.getByLabel('Credit per period').fill('10');
      await page.getByLabel('Requests per minute').fill('120');
      await page.getByRole('button', { name: 'Save plan' }).click();
      await page.getByRole('dialog').getByText('lower-case letters').first().waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByLabel('ID', { exact: true }).fill('runner');
      await page.getByRole('button', { name: 'Save plan' }).click();
      await page.getByRole('row', { name: /Runner.*\$9\.00.*\$10\.00.*120 requests per minute.*Offered/u }).waitFor();

      const context = { accountId: account.id, nowMs: Date.now(), paysBy: 'balance' } as const;
      const order = await new Subscriptions(stage.database).order({ type: 'subscribe', planId: 'runner' }, context);
      expect(order.type).toBe('done');
      await page.goto('/admin/plans?plan=runner');
      await page.getByRole('cell', { name: account.email }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Edit' }).click();
      expect(await page.getByLabel('ID', { exact: true }).isDisabled()).toBe(true);
      await page.getByLabel('Price per period').fill('19');
      await page.getByRole('button', { name: 'Save plan' }).click();
      // The current period was paid at the old price.
      await page.getByRole('row', { name: /Runner.*\$19\.00.*1 \$9\.00/u }).waitFor();

      await page.getByRole('link', { name: 'Runner' }).click();
      await page.getByRole('button', { name: 'Stop offering' }).click();
      await page.getByRole('button', { name: 'Stop offering' }).last().click();
      await page.getByRole('button', { name: 'Offer again' }).waitFor();
      await page.getByRole('button', { name: 'Close' }).first().click();
      await page.getByRole('row', { name: /Runner.*No longer offered/u }).waitFor();
      for (const path of ['/admin/plans?form=new', '/admin/plans?plan=runner']) {
        await page.setViewportSize({ width: 360, height: 800 });
        await page.goto(path);
        await page.getByRole('dialog').waitFor();
        expect(await overflowOf(page)).toBe(0);
      }
      expect(complaints).toEqual(['Failed to load resource: the server responded with a status of 400 (Bad Request)']);
    },
    TEST_MS,
  );
});
