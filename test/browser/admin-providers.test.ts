import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, openStage, overflowOf, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the operator’s providers in a browser', () => {
  beforeAll(async () => {
    stage = await openStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'a provider is tested, disabled and enabled again',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 360, height: 800 }, colorScheme: 'dark' });
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('account_id', '=', account.id).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/admin/providers');
      await page.getByRole('link', { name: 'sandbox' }).click();
      const drawer = page.getByRole('dialog', { name: 'sandbox' });
      await drawer.getByLabel('Model').selectOption('sandbox/hello');
      await drawer.getByRole('button', { name: 'Send test call' }).click();
      await drawer.getByText('Answered').waitFor();
      await drawer.getByText('Hello! The gate is open').waitFor();

      await drawer.getByRole('button', { name: 'Disable' }).click();
      const question = page.getByRole('dialog', { name: 'Disable sandbox?' });
      await question.getByText('3 models have no other configured provider').waitFor();
      const stopping = question.getByRole('list', { name: 'Models that stop' }).getByRole('listitem');
      expect((await stopping.allTextContents()).toSorted()).toEqual(['sandbox/echo', 'sandbox/hello', 'sandbox/story']);
      expect(await findBarriers(page)).toEqual([]);
      await question.getByRole('button', { name: 'Disable' }).click();
      await drawer.getByText(`Disabled by ${account.email}`).waitFor();
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
      await page.keyboard.press('Escape');
      await page.getByText('Disabled', { exact: true }).waitFor();
      const served = async (): Promise<number> =>
        ((await (await page.request.get('/api/models')).json()) as { models: unknown[] }).models.length;
      expect(await served()).toBe(0);

      await page.getByRole('link', { name: 'sandbox' }).click();
      await drawer.getByRole('button', { name: 'Enable' }).click();
      await drawer.getByRole('button', { name: 'Disable' }).waitFor();
      for (const giveUpAtMs = performance.now() + 2000; (await served()) === 0 && performance.now() < giveUpAtMs;) await Bun.sleep(50);
      expect(await served()).toBe(3);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
