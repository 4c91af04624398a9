import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { openStage, PASSWORD, type Stage, type Visit } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('a settings form can be sent only', () => {
  let stage: Stage;
  let visit: Visit;
  beforeAll(async () => {
    stage = await openStage();
    visit = await stage.enter();
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(visit?.context);
    await stage?.close();
  });

  test(
    'with a name and a banner that differ from the saved ones',
    async () => {
      const { page, account } = visit;
      await page.goto('/settings');
      const save = page.getByRole('button', { name: 'Save', exact: true });
      const name = page.getByLabel('Name', { exact: true });
      await expectDisabled(save);
      await name.fill(' ');
      await expectDisabled(save);
      await name.fill('Ada Lovelace');
      await save.click();
      await page.getByText('Saved', { exact: true }).waitFor();
      await expectDisabled(save);

      await makeOperator(stage.database, account.email);
      await page.goto('/admin/settings');
      const show = page.getByRole('button', { name: 'Show banner' });
      await page.getByLabel('Text').fill('Maintenance at ten.');
      await show.click();
      await page.getByRole('button', { name: 'Remove banner' }).waitFor();
      await expectDisabled(show);
      await page.getByLabel('Tone').selectOption('Warning');
      await show.click();
      await expectDisabled(show);
    },
    TEST_MS,
  );

  test(
    'with everything it asks for',
    async () => {
      const { page } = visit;
      await page.goto('/settings');
      const changeEmail = page.getByRole('button', { name: 'Change email' });
      await expectDisabled(changeEmail);
      await page.getByLabel('New email address').fill('ada@example.com');
      await changeEmail.and(page.locator(':enabled')).waitFor();

      await page.goto('/settings?tab=security');
      const changePassword = page.getByRole('button', { name: 'Change password' });
      await expectDisabled(changePassword);
      await page.getByLabel('New password', { exact: true }).fill('a gate on a mountain road');
      await expectDisabled(changePassword);
      await page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
      await changePassword.and(page.locator(':enabled')).waitFor();

      await page.getByRole('button', { name: /Turn (?:on|off)/u }).click();
      await expectDisabled(page.getByRole('dialog').getByRole('button', { name: /Turn (?:on|off)/u }));
      await page.goto('/settings?tab=data');
      await page.getByRole('button', { name: 'Delete my account' }).click();
      await expectDisabled(page.getByRole('dialog').getByRole('button', { name: 'Delete my account' }));
    },
    TEST_MS,
  );
});

/** Waits for the button and expects that it cannot be pressed. */
async function expectDisabled(button: Locator): Promise<void> {
  await button.and(button.page().locator(':disabled:not([aria-busy])')).waitFor();
  expect(await button.isDisabled()).toBe(true);
}
