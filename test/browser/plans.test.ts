import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { usd } from '../conformance/money-in/stage.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers } from './key-stage.ts';
import { MoneyPages, see, seeBalance } from './money-pages.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const HOUR_MS = 3_600_000;

describe.skipIf(chromiumPath === undefined)('plans in a browser', () => {
  let money: MoneyPages;
  beforeAll(async () => {
    money = await MoneyPages.open();
  }, OPEN_WITHIN_MS);
  afterAll(() => money.close());

  test(
    'a plan is chosen, upgraded, cancelled, resumed and renewed',
    async () => {
      const visit = await money.enterSameTab();
      const { page, account } = visit;
      await page.goto('/plans');
      await page.getByRole('button', { name: 'Choose: Basic' }).click();
      await see(page, 'Due now');
      await see(page, '$10.00 available for plans.');
      await page.getByRole('button', { name: 'Pay $5.00' }).click();
      await see(page, '$6.00 of $6.00 left');
      await page.locator('section:focus').getByRole('heading', { name: 'Your plan' }).waitFor();
      await seeBalance(page, '$11.00');

      await page.getByRole('button', { name: 'Switch to this plan: Pro' }).click();
      await see(page, 'The difference to your current plan for the rest of the period.');
      await page.getByLabel('Card').check();
      await page.getByRole('button', { name: /^Pay \$/u }).click();
      const session = await money.payAtCheckout(page);
      await money.deliver(session);
      await see(page, 'was added to your balance');
      await page.goto('/plans');
      await page.getByRole('region', { name: 'Your plan' }).getByText('Pro').waitFor();

      await page.getByRole('button', { name: 'Cancel plan' }).click();
      await see(page, 'It stays active until the period ends');
      await page.getByRole('dialog').getByRole('button', { name: 'Keep plan' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Cancel plan' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel plan' }).click();
      await see(page, 'Then your plan ends.');
      await page.locator('section:focus').getByRole('heading', { name: 'Your plan' }).waitFor();
      await page.getByRole('button', { name: 'Resume plan' }).click();
      await see(page, 'It renews automatically.');

      await page.getByRole('button', { name: 'Switch to this plan: Basic' }).click();
      await see(page, 'Nothing is due now.');
      await page.getByRole('button', { name: 'Choose plan' }).click();
      await see(page, 'Then Basic starts.');
      expect(await findBarriers(page)).toEqual([]);

      await page.getByLabel('Payment method').selectOption('Account balance');
      await see(page, 'Payment method changed for the next periods');
      const end = await money.periodEnd(account.id);
      await withClockAt(end + HOUR_MS, async () => {
        await page.getByRole('region', { name: 'Your plan' }).getByText('Basic').waitFor();
        await see(page, '$6.00 of $6.00 left');
        await see(page, 'It renews automatically.');
      });
      expect(await money.periodEnd(account.id)).toBeGreaterThan(end);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a subscriber chooses the paying card and which credit is used first',
    async () => {
      const visit = await money.enterSameTab();
      const { page, account } = visit;
      await money.topUp(page, true);
      await page.goto('/plans?plan=basic');
      await page.getByRole('button', { name: 'Pay $5.00' }).click();
      await page.getByLabel('Payment method').selectOption('Visa •••• 4242');
      await see(page, 'Payment method changed for the next periods');
      await page.getByLabel('Use first').selectOption('Balance');
      await see(page, 'Order of use changed');
      await page.reload();
      expect(await shownIn(page, 'Payment method')).toBe('Visa •••• 4242');
      expect(await shownIn(page, 'Use first')).toBe('Balance');
      expect(await findBarriers(page)).toEqual([]);
      await page.goto('/billing');
      const rows = page.getByRole('region', { name: 'Balance by source, in order of use' }).getByRole('row');
      await rows.nth(3).getByText('Plan').waitFor();
      expect(await rows.nth(3).getByRole('cell').first().textContent()).toBe('3');

      const charges = money.stripe.books.intents.size;
      await page.goto('/plans');
      await seeBalance(page, '$21.00');
      await withClockAt((await money.periodEnd(account.id)) + HOUR_MS, () => seeBalance(page, '$27.00'));
      expect(money.stripe.books.intents.size).toBe(charges + 1);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a plan that cannot be renewed stays active for some days, and says why and until when',
    async () => {
      const { page, account } = await money.enterSameTab();
      await page.goto('/plans?plan=pro');
      await page.getByRole('button', { name: 'Pay $8.00' }).click();
      await see(page, '$12.00 of $12.00 left');
      // Found by its role, as a screen reader does.
      await page.getByRole('button', { name: 'Dismiss' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await withClockAt((await money.periodEnd(account.id)) + HOUR_MS, () => see(page, 'Your plan could not be renewed'));
      await see(page, 'the balance is too small. We will try again: top up or save another card.');
      await see(page, 'It stays active until');
      expect(await findBarriers(page)).toEqual([]);
      await page.route('**/api/plans', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), hasCards: false } });
      });
      await page.reload();
      await see(page, 'We will try again: top up.');
      await page.getByRole('button', { name: 'Cancel plan' }).click();
      await see(page, 'The plan is past due, so it ends at once. You cannot resume it.');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel plan' }).click();
      await page.getByRole('region', { name: 'Your plan' }).waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  test(
    'a plan that stops when its credit runs out says so before and after it is chosen',
    async () => {
      const visit = await money.enterSameTab();
      const { page } = visit;
      await page.goto('/plans');
      await see(page, 'Stops when its credit runs out');
      await page.getByRole('button', { name: 'Choose: Capped' }).click();
      await page.getByRole('button', { name: 'Pay $2.00' }).click();
      await see(page, 'Only the plan’s credit is used.');
      expect(await page.getByLabel('Use first').count()).toBe(0);
      await page.goto('/billing');
      await see(page, 'Your plan stops when its credit runs out');
      await see(page, 'not used');
      expect(await findBarriers(page)).toEqual([]);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a payment method that works is chosen first, and a later plan says what it will cost and whether the balance will do',
    async () => {
      const { page } = await money.enterSameTab();
      await money.savePlan({ price: usd('12') });
      await page.goto('/plans?plan=moving');
      await page.getByRole('button', { name: 'Pay $12.00' }).waitFor();
      expect(await page.getByLabel('Card').isChecked()).toBe(true);
      await money.savePlan({ price: usd('8') });
      await page.reload();
      await page.getByRole('button', { name: 'Pay $8.00' }).waitFor();
      expect(await page.getByLabel('Account balance').isChecked()).toBe(true);
      await page.getByRole('button', { name: 'Pay $8.00' }).click();
      await page.getByRole('region', { name: 'Your plan' }).getByText('moving').waitFor();
      await page.goto('/plans?plan=basic');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('$5.00 per month').waitFor();
      await dialog.getByText('Account balance').waitFor();
      await dialog.getByText('Your balance has $2.00 for plans, which is too little. Top up before then,').waitFor();
      expect(await findBarriers(page)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a price that changes while the dialog is open is shown and confirmed again',
    async () => {
      const { page } = await money.enterSameTab();
      await money.savePlan({ price: usd('3') });
      await page.goto('/plans?plan=moving');
      await page.getByRole('button', { name: 'Pay $3.00' }).waitFor();
      await money.savePlan({ price: usd('4') });
      await page.getByRole('button', { name: 'Pay $3.00' }).click();
      await see(page, 'The quoted price is no longer valid. Check the new price and confirm again.');
      await page.getByRole('button', { name: 'Pay $4.00' }).click();
      await page.getByRole('region', { name: 'Your plan' }).getByText('moving').waitFor();
      await seeBalance(page, '$7.00');
    },
    TEST_MS,
  );

  test('the ledger is sound after all of this', () => money.expectSound());
});

/** Moves the server's clock forward while `work` runs. The browser's clock is not changed. */
async function withClockAt(atMs: number, work: () => Promise<unknown>): Promise<void> {
  const now = Date.now.bind(Date);
  const aheadMs = atMs - now();
  Date.now = () => now() + aheadMs;
  try {
    await work();
  } finally {
    Date.now = now;
  }
}

/** Returns the text of the selected option. */
async function shownIn(page: Page, label: string): Promise<string | undefined> {
  return page
    .getByLabel(label)
    .locator('option:checked')
    .textContent()
    .then((text) => text ?? undefined);
}
