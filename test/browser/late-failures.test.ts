import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page, Route } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, shareStage, type Stage } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const UNREAD = 'The choices of some filters could not be loaded. Enough of this.';

describe.skipIf(chromiumPath === undefined)('failures in the background', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'filters whose choices cannot be loaded say so, and the page works without them',
    async () => {
      const { page, account } = await stage.enterSameTab();
      await makeOperator(stage.database, account.email);
      await page.route(/\/api\/(?:usage|admin\/requests)\/names/u, refuse);
      for (const path of ['/admin/requests', '/requests', '/requests?view=refused', '/usage']) {
        await page.goto(path);
        await page.getByText(UNREAD).waitFor();
        await page.getByRole('main').getByText(/^No /u).first().waitFor();
        expect([path, await findBarriers(page)]).toEqual([path, []]);
      }
      await page.unroute(/\/api\/(?:usage|admin\/requests)\/names/u);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(UNREAD).waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  test(
    'a dialog stays open while its form is sent, and shows the failure',
    async () => {
      const { page } = await stage.enterSameTab();
      for (const { path, open, action } of FORMS) {
        await page.goto(path);
        await open(page);
        const dialog = page.getByRole('dialog');
        const answer = await hold(page);
        await dialog.getByRole('button', { name: action, exact: true }).click();
        await dialog.locator('[aria-busy=true]').waitFor();
        await page.keyboard.press('Escape');
        expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
        await answer();
        await dialog.getByText('Enough of this.').waitFor();
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await dialog.waitFor({ state: 'detached' });
      }
    },
    TEST_MS,
  );

  test(
    'a change that fails after its page was left is reported on the next one',
    async () => {
      const { page } = await stage.enterSameTab();
      await page.goto('/overview');
      await page.getByRole('link', { name: 'Settings' }).first().click();
      await page.getByLabel('Name', { exact: true }).fill('Somebody else');
      const answer = await hold(page);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('[aria-busy=true]').waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await answer();
      await page.getByRole('alertdialog').getByText('Enough of this.').waitFor();
    },
    TEST_MS,
  );

  test(
    'the receipt button of a payment says which payment it is',
    async () => {
      const { context, page, account } = await stage.enter({ timezoneId: 'Europe/Berlin' });
      const row = { account_id: account.id, provider: 'stripe', purpose: 'top_up', status: 'paid', saves_card: 0, asked_at: 0 } as const;
      const payments = [12, 25].map((usd) => ({
        ...row,
        id: `pay_${usd}`,
        provider_ref: `pi_${usd}`,
        amount: usd * 1_000_000_000,
        charge_cents: usd * 100,
        created_at: Date.UTC(2026, 10, usd, 9, 30),
      }));
      await stage.database.insertInto('payments').values(payments).execute();
      await page.goto('/billing');
      await page.getByRole('button', { name: 'Receipt of 12 Nov 2026, 10:30, $12.00' }).waitFor();
      await page.getByRole('button', { name: 'Receipt of 25 Nov 2026, 10:30, $25.00' }).waitFor();
      await close(context);
    },
    TEST_MS,
  );
});

/** Dialogs with a form: one whose buttons are the dialog's, one whose buttons are the form's, and one with several steps. */
const FORMS = [
  {
    path: '/keys?create=open',
    open: (page: Page) => page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('another'),
    action: 'Create key',
  },
  {
    path: '/settings?tab=data',
    open: async (page: Page) => {
      await page.getByRole('button', { name: 'Delete my account' }).click();
      await page.getByRole('dialog').getByLabel('Password').first().fill('wrong horse battery');
    },
    action: 'Delete my account',
  },
  {
    path: '/settings?tab=security',
    open: async (page: Page) => {
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByRole('dialog').getByLabel('Password').first().fill('wrong horse battery');
    },
    action: 'Turn on',
  },
] as const;

/** Holds every change back and returns a function that refuses it. */
async function hold(page: Page): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route('**/api/**', (route) => (route.request().method() === 'GET' ? route.fallback() : resolve(route)));
  return async () => {
    await refuse(await promise);
    await page.unroute('**/api/**');
  };
}

async function refuse(route: Route): Promise<void> {
  await route.fulfill({ status: 429, json: { error: { code: 'broken', message: 'Enough of this.' } } });
}
