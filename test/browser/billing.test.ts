import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql, type Kysely } from 'kysely';
import type { Page } from 'playwright-core';
import { PromoCodes, type PromoBenefit, type PromoRules } from '../../src/accounts/promo-codes.ts';
import type { Tables } from '../../src/database/tables.ts';
import { verifyLedger } from '../../src/ledger/reconcile.ts';
import { LONGEST_REQUEST_MS } from '../conformance/ledger-driver.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { chromiumPath } from '../services/chromium.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import { findBarriers, openStage, overflowOf, type Stage, type Visit } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
/** Generous: the machine that runs the tests does other things too. */
const SEEN_WITHIN_MS = 30_000;
const PLANS = [
  { id: 'basic', name: 'Basic', price_usd: 5, included_usd: 6, requests_per_minute: 60 },
  { id: 'pro', name: 'Pro', price_usd: 8, included_usd: 12, models: ['sandbox/echo'] },
];
const CREDIT: PromoBenefit = { kind: 'credit', amount: usd('3') };

let stripe: StripeSimulator;
let stage: Stage;
let database: Kysely<Tables>;

describe.skipIf(chromiumPath === undefined)('money in, in a browser', () => {
  beforeAll(async () => {
    stripe = await startStripeSimulator();
    stage = await openStage({
      environment: { STRIPE_SECRET_KEY: 'sk_test_simulated', STRIPE_WEBHOOK_SECRET: stripe.secret },
      settings: { payments: { stripe_api_url: stripe.url, bank_transfer: 'IBAN XX00 1234' }, plans: PLANS },
    });
    ({ database } = stage);
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await stage.close();
    await stripe.stop();
  });

  test(
    'a top-up shows its exact charge, and the new balance without a reload',
    async () => {
      const visit = await enter();
      const { page } = visit;
      await page.goto('/billing');
      await see(page, 'Given by the operator');
      await page.getByLabel('Another amount').fill('12.34');
      await see(page, 'You are charged $12.34');
      await page.getByLabel('Keep the card').check();
      await page.getByRole('button', { name: 'Pay $12.34' }).click();
      const session = await payAtCheckout(page);
      await see(page, 'We are waiting for your payment.');
      await deliver(session);
      await see(page, '$12.34 was added to your balance.');
      await see(page, 'You can spend $22.34 now.');
      await seeBalance(page, '$22.34');
      await see(page, 'Visa •••• 4242');
      await page.getByRole('region', { name: 'Movements, newest first' }).getByText('+$12.34').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a payment is credited although no event came, while its payer waits',
    async () => {
      const { page } = await enter();
      await page.goto('/billing');
      await page.getByRole('button', { name: 'Pay $10.00' }).click();
      await payAtCheckout(page);
      await see(page, '$10.00 was added to your balance.');
    },
    TEST_MS,
  );

  test(
    'a bank transfer gets a reference, and automatic top-up is off until it is switched on',
    async () => {
      const { page } = await enter();
      await page.goto('/billing');
      await page.getByLabel('Bank transfer').check();
      await page.getByRole('button', { name: 'Get a reference for $10.00' }).click();
      await see(page, 'Write this on your transfer');
      await see(page, 'IBAN XX00 1234');
      await page
        .getByText(/^TG-[2-9A-Z]{5}-[2-9A-Z]{5}$/u)
        .first()
        .waitFor();
      expect(await page.getByRole('switch', { name: 'Top up when the balance is low' }).isDisabled()).toBe(true);
      await topUp(page, true);
      await page.getByRole('switch', { name: 'Top up when the balance is low' }).click();
      await page.getByLabel('At most in a month').fill('10');
      await page.getByRole('button', { name: 'Switch on' }).click();
      await see(page, 'The most in a month must not be less than one top-up.');
      await page.getByLabel('At most in a month').fill('60');
      await page.getByRole('button', { name: 'Switch on' }).click();
      await see(page, 'Automatic top-up is on.');
      await see(page, '$0.00 of $60.00 charged in this month (UTC).');
      await page.getByRole('switch', { name: 'Top up when the balance is low' }).click();
      await page.getByText('Automatic top-up is on.').waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  test(
    'a code is redeemed once, and every refusal says what is wrong',
    async () => {
      const { page } = await enter();
      await page.goto('/billing');
      const good = await makeCode(CREDIT, { usesMax: 2 });
      await redeem(page, good, '$3.00 was added to your balance.');
      await seeBalance(page, '$13.00');
      const used = await makeCode(CREDIT);
      await database
        .updateTable('promo_codes')
        .set({ used: 1 })
        .where('shown', '=', `${used.slice(0, 4)}…`)
        .execute();
      const cases: readonly (readonly [string, string])[] = [
        [good, 'You have used this code already.'],
        ['NO-SUCH-CODE', 'There is no such code.'],
        [await makeCode(CREDIT, { validToMs: 1 }), 'This code has expired.'],
        [await makeCode(CREDIT, { validFromMs: Date.UTC(2100, 0) }), 'This code is not valid yet.'],
        [await makeCode(CREDIT, { minimumTopUp: usd('50') }), 'topped up at least $50.'],
        [used, 'This code has been used up by others.'],
        [await makeCode(CREDIT, { newAccountDays: -1 }), 'This code is for new accounts only.'],
        [await makeStopped(), 'This code is not valid any more.'],
      ];
      for (const [code, text] of cases) await redeem(page, code, text);
      await database
        .updateTable('promo_codes')
        .set({ used: 0 })
        .where('shown', '=', `${used.slice(0, 4)}…`)
        .execute();
      await redeem(
        page,
        await makeCode({ kind: 'bonus', percent: 50, amount: usd('4') }),
        '50 % will be added to your next top-up, at most $4.00.',
      );
      await topUp(page);
      await see(page, 'A bonus of $4.00 came with it.');
    },
    TEST_MS,
  );

  test(
    'a plan is subscribed to, renewed, upgraded, canceled and resumed',
    async () => {
      const visit = await enter();
      const { page, account } = visit;
      await page.goto('/plans');
      await page.getByRole('button', { name: 'Choose: Basic' }).click();
      await see(page, 'Due now');
      await see(page, '$10.00 can be spent on plans.');
      await page.getByRole('button', { name: 'Pay $5.00' }).click();
      await see(page, '$6.00 of $6.00 left');
      await seeBalance(page, '$11.00');

      // A month goes by: for the server it is the same as if the plan had begun a month ago.
      const before = await periodEnd(account.id);
      await moveBack(account.id, 31 * 86_400_000);
      await seeBalance(page, '$12.00');
      await see(page, '$6.00 of $6.00 left');
      expect(await periodEnd(account.id)).toBeGreaterThan(before - 31 * 86_400_000);

      await page.getByRole('button', { name: 'Change to this: Pro' }).click();
      await see(page, 'The difference to your plan for the rest of the period.');
      await page.getByLabel('Another card').check();
      await page.getByRole('button', { name: /^Pay \$/u }).click();
      const session = await payAtCheckout(page);
      await deliver(session);
      await see(page, 'was added to your balance.');
      await page.goto('/plans');
      await page.getByRole('region', { name: 'Your plan' }).getByText('Paid by card').waitFor();

      await page.getByRole('button', { name: 'Cancel plan' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel plan' }).click();
      await see(page, 'It ends then.');
      await page.getByRole('button', { name: 'Keep plan' }).click();
      await see(page, 'It renews by itself.');

      await page.getByRole('button', { name: 'Change to this: Basic' }).click();
      await see(page, 'Nothing is due now.');
      await page.getByRole('button', { name: 'Choose plan' }).click();
      await see(page, 'Then Basic begins.');
      expect(await findBarriers(page)).toEqual([]);
      expect(visit.complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'the pages fit a phone, in the dark',
    async () => {
      const { page, complaints } = await enter({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
      for (const [path, text] of [
        ['/billing', 'Given by the operator'],
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

  test('the ledger is right after all of it', async () => {
    const checks = await verifyLedger(database, { dialect: 'sqlite', longestRequestMs: LONGEST_REQUEST_MS });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  });
});

async function enter(options?: Parameters<Stage['enter']>[0]): Promise<Visit> {
  const visit = await stage.enter(options);
  visit.page.setDefaultTimeout(SEEN_WITHIN_MS);
  // Stripe's page, with nothing on it: what happens there, the test says.
  await visit.context.route('https://checkout.example.com/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Checkout</h1>' }),
  );
  return visit;
}

async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** The balance at the edge of every page. */
async function seeBalance(page: Page, amount: string): Promise<void> {
  await page.locator('a[href="/billing"]').filter({ hasText: amount }).first().waitFor();
}

/** The payer pays on Stripe's page and comes back. Stripe has not told anybody yet. */
async function payAtCheckout(page: Page): Promise<string> {
  await page.waitForURL('https://checkout.example.com/**');
  const session = page.url().split('/').at(-1) ?? '';
  stripe.books.pay(session);
  await page.goto(String(stripe.books.sessions.get(session)?.['success_url']));
  return session;
}

/** Stripe tells of the session. */
async function deliver(session: string): Promise<void> {
  const events = stripe.books.events.filter(({ data }) => JSON.stringify(data).includes(`"${session}"`));
  for (const event of events) expect(await stripe.deliver(event, `${stage.service.url}/webhooks/stripe`)).toBe(200);
}

async function topUp(page: Page, savesCard = false): Promise<void> {
  await page.goto('/billing');
  if (savesCard) await page.getByLabel('Keep the card').check();
  await page.getByRole('button', { name: 'Pay $10.00' }).click();
  await deliver(await payAtCheckout(page));
  await see(page, '$10.00 was added to your balance.');
}

async function redeem(page: Page, code: string, answer: string): Promise<void> {
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Redeem' }).click();
  await see(page, answer);
}

let codes = 0;

async function makeCode(benefit: PromoBenefit, rules: Partial<PromoRules> = {}): Promise<string> {
  codes += 1;
  const which = { code: `T${String(codes).padStart(3, '0')}-${crypto.randomUUID().slice(0, 8)}`.toUpperCase() };
  const made = await new PromoCodes(database).create(which, benefit, { usesMax: 1, perAccount: 1, minimumTopUp: usd('0'), ...rules });
  return made?.[0]?.code ?? '';
}

async function makeStopped(): Promise<string> {
  const campaign = crypto.randomUUID();
  const code = await makeCode(CREDIT, { campaign });
  await new PromoCodes(database).stop(campaign);
  return code;
}

async function periodEnd(accountId: string): Promise<number> {
  const row = await database.selectFrom('subscriptions').select('period_end').where('account_id', '=', accountId).executeTakeFirstOrThrow();
  return Number(row.period_end);
}

async function moveBack(accountId: string, ms: number): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const subscription = sql`(SELECT id FROM subscriptions WHERE account_id = ${accountId})`;
    await sql`UPDATE grants SET source = 'plan:' || ${subscription} || ':' || (CAST(substr(source, length('plan:' || ${subscription} || ':') + 1) AS INTEGER) - ${ms})
      WHERE account_id = ${accountId} AND kind = 'plan'`.execute(transaction);
    await sql`UPDATE plan_periods SET period_start = period_start - ${ms}, period_end = period_end - ${ms} WHERE subscription_id = ${subscription}`.execute(
      transaction,
    );
    await sql`UPDATE subscriptions SET anchor = anchor - ${ms}, period_start = period_start - ${ms}, period_end = period_end - ${ms}
      WHERE account_id = ${accountId}`.execute(transaction);
  });
}
