import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asNanos } from '../../src/ledger/money.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, type Look, overflowOf, type Visit } from './key-stage.ts';
import { MoneyPages, see } from './money-pages.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;

describe.skipIf(chromiumPath === undefined)('the operator’s payments in a browser', () => {
  let money: MoneyPages;
  beforeAll(async () => {
    money = await MoneyPages.open();
  }, OPEN_WITHIN_MS);
  afterAll(() => money.close());

  const enterAsOperator = async (look?: Look): Promise<Visit> => {
    const visit = await money.enterSameTab(look);
    const { id, email } = visit.account;
    await money.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', id).execute();
    await money.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
    await money.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
    return visit;
  };

  test(
    'a bank transfer is credited in two steps, shown in the list and in its timeline',
    async () => {
      const payer = await money.enter();
      await payer.page.goto('/billing');
      await payer.page.getByLabel('Bank transfer').check();
      await payer.page.getByRole('button', { name: 'Get a reference for $10.00' }).click();
      const reference = (await payer.page.getByText(/^TG-/u).first().textContent()) ?? '';

      const { page, complaints } = await enterAsOperator();
      await page.goto('/admin/payments?view=transfers');
      await page.getByRole('row').filter({ hasText: payer.account.email }).getByRole('button').first().click();
      await page.getByRole('button', { name: 'Confirm receipt' }).click();
      await page.getByLabel('Amount received').fill('12');
      await page.getByRole('dialog').getByLabel('Reference').fill(reference);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Credit', exact: true }).click();
      await see(page, 'Nothing was credited: 1200 cents were paid instead of 1000');
      await page.getByLabel('Amount received').fill('10');
      await page.getByRole('button', { name: 'Continue' }).click();
      await see(page, `Credit $10.00 to ${payer.account.email}?`);
      await page.getByRole('button', { name: 'Credit', exact: true }).click();
      await see(page, 'Transfer credited');
      await see(page, 'Paid and credited');
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('link', { name: payer.account.email }).click();
      // The page adds its time zone to the URL.
      await page.waitForURL(({ pathname }) => pathname === `/admin/accounts/${payer.account.id}`);
      await page.goto('/admin/payments?view=transfers');
      await see(page, 'No pending transfers');
      const found = await money.stage.service.accounts.find(payer.account.email);
      expect(found?.balance).toBe(asNanos(20_000_000_000n));
      // The browser itself logs the 409.
      expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'on a phone, a refused event is replayed, and a comparison finds the difference',
    async () => {
      const payer = await money.enter();
      await payer.page.goto('/billing');
      await payer.page.getByRole('button', { name: 'Pay $10.00' }).click();
      await payer.page.waitForURL('https://checkout.example.com/**');
      money.stripe.books.pay(payer.page.url().split('/').at(-1) ?? '', { cents: 900 });
      await money.send(money.stripe.books.events.at(-1) ?? {});

      const { page, complaints } = await enterAsOperator({ viewport: { width: 360, height: 740 } });
      await page.goto('/admin/payments?view=problems');
      await see(page, '900 cents were paid instead of 1000');
      await page.getByRole('button', { name: 'Events', exact: true }).click();
      await page.getByRole('button', { name: 'Replay' }).click();
      await see(page, 'Still refused: 900 cents were paid instead of 1000');
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.getByRole('button', { name: 'Compare now' }).click();
      await see(page, 'Amount differs');
      await page.getByRole('button', { name: 'Amount differs' }).click();
      await see(page, 'Timeline');
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
