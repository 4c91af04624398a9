import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { PromoCodes, type PromoBenefit } from '../../src/accounts/promo-codes.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, openStage, overflowOf, type Stage } from './key-stage.ts';
import { MoneyPages, see, seeBalance } from './money-pages.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const CREDIT: PromoBenefit = { kind: 'credit', amount: usd('3') };

describe.skipIf(chromiumPath === undefined)('billing in a browser', () => {
  let money: MoneyPages;
  beforeAll(async () => {
    money = await MoneyPages.open();
  }, OPEN_WITHIN_MS);
  afterAll(() => money.close());

  test(
    'a top-up shows the exact charge, and then the new balance without a reload',
    async () => {
      const visit = await money.enterSameTab();
      const { page } = visit;
      await page.goto('/billing');
      await see(page, 'Operator credit');
      await page.getByLabel('Custom amount').fill('0.01');
      await page.getByRole('button', { name: 'Pay $0.01' }).click();
      await see(page, 'Enter an amount from $5.00 to $1,000.00.');
      await page.getByLabel('Custom amount').fill('12.34');
      await see(page, 'You pay $12.34');
      await page.getByLabel('Save the card').check();
      await page.getByRole('button', { name: 'Pay $12.34' }).click();
      const session = await money.payAtCheckout(page);
      await see(page, 'Waiting for your payment');
      await money.deliver(session);
      await see(page, '$12.34 was added to your balance');
      await see(page, 'You can now spend $22.34.');
      await seeBalance(page, '$22.34');
      await see(page, 'Visa •••• 4242');
      await page.getByRole('region', { name: 'Transactions, newest first' }).getByText('+$12.34').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a payment is credited while the payer waits, even without a Stripe event',
    async () => {
      const { page } = await money.enterSameTab();
      await page.goto('/billing');
      await page.getByRole('button', { name: 'Pay $10.00' }).click();
      await money.payAtCheckout(page);
      await see(page, '$10.00 was added to your balance');
    },
    TEST_MS,
  );

  test(
    'a bank transfer gets a reference, and automatic top-up is off until it is turned on',
    async () => {
      const { page } = await money.enterSameTab();
      await page.goto('/billing');
      await page.getByLabel('Bank transfer').check();
      await page.getByRole('button', { name: 'Get a reference for $10.00' }).click();
      await see(page, 'Reference for your transfer');
      await see(page, 'IBAN XX00 1234');
      await page
        .getByText(/^TG-[2-9A-Z]{5}-[2-9A-Z]{5}$/u)
        .first()
        .waitFor();
      await page.reload();
      await page.getByRole('region', { name: 'Payments, newest first' }).getByText('IBAN XX00 1234').waitFor();
      expect(await page.getByRole('switch', { name: 'Top up when the balance is low' }).isDisabled()).toBe(true);
      await money.topUp(page, true);
      const isOn = page.getByRole('switch', { name: 'Top up when the balance is low' });
      await isOn.click();
      await see(page, 'Still off: check the amounts below, then turn it on.');
      expect(await isOn.isChecked()).toBe(false);
      await page.getByLabel('Monthly maximum').fill('10');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await see(page, 'The monthly maximum must be at least the amount of one top-up.');
      expect(await isOn.isChecked()).toBe(false);
      await page.getByLabel('Monthly maximum').fill('60');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await see(page, 'Automatic top-up is on');
      await see(page, '$0.00 of $60.00 charged this month (UTC).');
      await see(page, 'Automatic top-up saved');
      expect(await isOn.isChecked()).toBe(true);
      const error = { code: 'broken', message: 'Enough of this.' };
      await page.route('**/api/billing/auto-top-up', (route) =>
        route.request().method() === 'PUT' ? route.fulfill({ status: 429, json: { error } }) : route.fallback(),
      );
      await isOn.click();
      await see(page, 'Enough of this.');
      expect(await isOn.isChecked()).toBe(true);
      await page.unroute('**/api/billing/auto-top-up');
      await isOn.click();
      await page.getByText('Automatic top-up is on').waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  test(
    'a promo code is redeemed once, and every refusal says why',
    async () => {
      const { page } = await money.enterSameTab();
      await page.goto('/billing');
      const good = await money.makeCode(CREDIT, { usesMax: 2 });
      await redeem(page, good, '$3.00 was added to your balance');
      await seeBalance(page, '$13.00');
      const used = await money.makeCode(CREDIT);
      await money.database
        .updateTable('promo_codes')
        .set({ used: 1 })
        .where('shown', '=', `${used.slice(0, 4)}…`)
        .execute();
      const cases: readonly (readonly [string, string])[] = [
        [good, 'You have already used this code.'],
        ['NO-SUCH-CODE', 'Unknown code.'],
        [await money.makeCode(CREDIT, { validToMs: 1 }), 'This code has expired.'],
        [await money.makeCode(CREDIT, { validFromMs: Date.UTC(2100, 0) }), 'This code is not valid yet.'],
        [await money.makeCode(CREDIT, { minimumTopUp: usd('50') }), 'topped up at least $50.'],
        [used, 'This code has been used up.'],
        [await money.makeCode(CREDIT, { newAccountDays: -1 }), 'This code is for new accounts only.'],
        [await makeStopped(money), 'This code is no longer valid.'],
      ];
      for (const [code, text] of cases) await redeem(page, code, text);
      await money.database
        .updateTable('promo_codes')
        .set({ used: 0 })
        .where('shown', '=', `${used.slice(0, 4)}…`)
        .execute();
      await redeem(
        page,
        await money.makeCode({ kind: 'bonus', percent: 50, amount: usd('4') }),
        'Your next top-up gets a 50% bonus, up to $4.00.',
      );
      await money.topUp(page);
      await see(page, 'Plus a bonus of $4.00.');
    },
    TEST_MS,
  );

  test(
    'a plan code is refused for a subscriber, and guessing is blocked after ten attempts',
    async () => {
      const { page } = await money.enterSameTab();
      await page.goto('/billing');
      await redeem(page, await money.makeCode({ kind: 'plan', planId: 'basic', periods: 1 }), 'Your plan has started');
      await redeem(
        page,
        await money.makeCode({ kind: 'plan', planId: 'pro', periods: 1 }),
        'This code gives you a plan, and you already have one.',
      );
      for (let guess = 1; guess <= 10; guess += 1) {
        const answered = page.waitForResponse((response) => response.url().endsWith('/api/billing/redeem'));
        await redeem(page, `GUESS-${guess}`, 'Unknown code.');
        expect((await answered).status()).toBe(409);
      }
      // From now on, even a valid code is refused.
      await redeem(page, await money.makeCode(CREDIT), 'Too many unknown codes. Try again in 60 minutes.');
      await seeBalance(page, '$16.00');
    },
    TEST_MS,
  );

  test(
    'a payment shows its refund and its receipt',
    async () => {
      const { page } = await money.enterSameTab();
      await money.topUp(page);
      const [intent = ''] = [...money.stripe.books.intents.keys()].slice(-1);
      const from = money.stripe.books.events.length;
      money.stripe.books.refund(intent, 400);
      for (const event of money.stripe.books.events.slice(from)) await money.send(event);
      await page.reload();
      await see(page, '$4.00 returned');
      await seeBalance(page, '$16.00');
      await page.context().route('https://pay.example.com/**', (route) => route.fulfill({ body: 'A receipt' }));
      const receipt = page.context().waitForEvent('page');
      await page.getByRole('button', { name: 'Receipt' }).first().click();
      await (await receipt).waitForURL('https://pay.example.com/receipts/**');
    },
    TEST_MS,
  );

  test(
    'a promo code in the sign-up link is redeemed at sign-up',
    async () => {
      const code = await money.makeCode(CREDIT);
      const context = await money.stage.browser.newContext({ baseURL: money.stage.service.url });
      const page = await context.newPage();
      await page.goto(`/sign-up?code=${code}`);
      await page.getByLabel('Email address').fill(`${crypto.randomUUID()}@example.com`);
      await page.getByLabel('Password', { exact: true }).fill('a gate on a mountain road');
      await page.getByRole('button', { name: 'Create account' }).click();
      await see(page, 'Promo code redeemed');
      await page.goto('/billing');
      await see(page, 'Promo code');
      await seeBalance(page, '$3.00');
      await close(context);
    },
    TEST_MS,
  );

  test(
    'the pages fit a phone in dark mode',
    async () => {
      const { page, complaints } = await money.enterSameTab({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
      for (const [path, text] of [
        ['/billing', 'Operator credit'],
        ['/plans', 'Basic'],
      ] as const) {
        await page.goto(path);
        await see(page, text);
        expect(await overflowOf(page)).toBe(0);
        expect(await findBarriers(page)).toEqual([]);
      }
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test('the ledger is sound after all of this', () => money.expectSound());
});

describe.skipIf(chromiumPath === undefined)('a gate without payments', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ settings: { plans: [{ id: 'basic', name: 'Basic', price_usd: 10, included_usd: 12 }] } });
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'shows how the operator adds credit',
    async () => {
      const { page, account } = await stage.enterSameTab();
      await page.goto('/billing');
      await see(page, 'Payments are not set up');
      await see(page, `npm run -s tollgate -- account credit --email ${account.email} --usd 10`);
      await see(page, 'No payments yet');
      expect(await page.getByRole('link', { name: 'Top up' }).count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'shows a debt and used-up credit, and offers no plan the balance cannot pay',
    async () => {
      const { page, account } = await stage.enterSameTab();
      await stage.service.accounts.credit(account, asNanos(-15_140_000_000n), { reason: 'test', actor: 'test' });
      await page.goto('/overview');
      await see(page, 'Your balance is negative: −$5.14');
      await page.goto('/billing?from=2090-01-01&to=2020-01-02');
      await see(page, 'No credit left');
      await page.getByRole('region', { name: 'Transactions, newest first' }).getByText('−$15.14').waitFor();
      await page.goto('/plans?plan=basic');
      await see(page, 'Your balance is too low.');
      expect(await page.getByRole('button', { name: 'Pay $10.00' }).isDisabled()).toBe(true);
      await page.getByRole('dialog').getByRole('link', { name: 'Top up' }).click();
      await page.waitForURL(/billing/);
    },
    TEST_MS,
  );
});

async function redeem(page: Page, code: string, answer: string): Promise<void> {
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Redeem' }).click();
  await see(page, answer);
}

async function makeStopped(money: MoneyPages): Promise<string> {
  const campaign = crypto.randomUUID();
  const code = await money.makeCode(CREDIT, { campaign });
  await new PromoCodes(money.database).stop({ campaign });
  return code;
}
