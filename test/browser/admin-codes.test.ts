import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { redeem } from '../../src/accounts/redeem.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, overflowOf, shareStage, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the operator’s promo codes in a browser', () => {
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'are created after a confirmation, shown once, downloaded, redeemed and stopped',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', account.email).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/admin/codes');
      await page.getByText('No promo codes yet').waitFor();

      await page.getByRole('button', { name: 'Create codes' }).first().click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').getByText('Choose exactly one benefit').waitFor();
      await page.getByLabel('Credit', { exact: true }).last().fill('2.50');
      await page.getByLabel('Number of codes').fill('20');
      await page.getByLabel('Prefix').fill('spring');
      await page.getByLabel('Campaign').last().fill('Spring');
      await page.getByLabel('Total uses per code').fill('2');
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Create 20 codes?' }).waitFor();
      await page.getByText('up to $100.00').waitFor();
      await page.getByRole('button', { name: 'Create codes' }).last().click();

      await page.getByRole('heading', { name: 'Store these codes now' }).waitFor();
      const codes = ((await page.getByLabel('codes', { exact: true }).textContent()) ?? '').split('\n');
      expect(codes).toHaveLength(20);
      expect(codes[0]).toMatch(/^SPRING(?:-[2-9A-Z]{5}){3}$/u);
      expect(await findBarriers(page)).toEqual([]);
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
      const lines = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n');
      expect(lines.map((line) => line.split(',')[1])).toEqual(['code', ...codes]);
      expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
      await page.getByLabel('I have stored them').check();
      await page.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('link', { name: 'SPRI…' }).first().waitFor();
      expect(new URL(page.url()).search).toBe('');
      expect(await page.content()).not.toContain(codes[0]?.slice(7) ?? '');
      const search = page.getByRole('searchbox', { name: 'Whole code, or its start' });
      await search.fill(` ${codes[3]?.toLowerCase()} `);
      await page.getByRole('link', { name: 'SPRI…' }).nth(1).waitFor({ state: 'detached' });
      expect(await page.getByRole('link', { name: 'SPRI…' }).count()).toBe(1);
      await search.fill('sprint');
      await page.getByText('No results for these filters').waitFor();
      await search.fill('spr');
      await page.getByRole('link', { name: 'SPRI…' }).nth(19).waitFor();
      const redeemed = await redeem(stage.database, { accountId: account.id, code: codes[3] ?? '', nowMs: Date.now() });
      expect(redeemed.type).toBe('redeemed');
      const { code_id: used } = await stage.database.selectFrom('promo_redemptions').select('code_id').executeTakeFirstOrThrow();
      await page.goto(`/admin/codes?campaign=Spring&code=${used}`);
      await page.getByRole('cell', { name: '$2.50' }).waitFor();
      await page.getByRole('cell', { name: account.email }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByText('20 codes, 20 not stopped, 1 redeemed.').waitFor();
      await page.getByRole('button', { name: 'Stop campaign' }).click();
      await page.getByRole('button', { name: 'Stop campaign' }).last().click();
      await page.getByText('20 codes stopped').first().waitFor();
      await page.getByText('20 codes, 0 not stopped').waitFor();
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto('/admin/codes?form=open');
      await page.getByLabel('Credit', { exact: true }).last().waitFor();
      expect(await overflowOf(page)).toBe(0);
      expect(complaints).toEqual(['Failed to load resource: the server responded with a status of 400 (Bad Request)']);
    },
    TEST_MS,
  );
});
