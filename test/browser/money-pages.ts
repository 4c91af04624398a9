import type { Kysely } from 'kysely';
import type { Page } from 'playwright-core';
import { expect } from 'bun:test';
import { Plans, type Plan } from '../../src/accounts/plans.ts';
import { PromoCodes, type PromoBenefit, type PromoRules } from '../../src/accounts/promo-codes.ts';
import type { Tables } from '../../src/database/tables.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { LONGEST_REQUEST_MS } from '../conformance/ledger-driver.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import type { StripeObject } from '../simulator/stripe-books.ts';
import { type Look, openStage, type Stage, type Visit } from './key-stage.ts';

/** Generous, because the test machine may be busy. */
const SEEN_WITHIN_MS = 60_000;
const PLANS = [
  { id: 'basic', name: 'Basic', price_usd: 5, included_usd: 6, requests_per_minute: 60 },
  { id: 'pro', name: 'Pro', price_usd: 8, included_usd: 12, models: ['sandbox/echo'] },
  { id: 'capped', name: 'Capped', price_usd: 2, included_usd: 1, overflow: 'stop' },
];

/**
 * A server with every payment method, a simulated Stripe, and a browser. The embedded database is enough here: the code
 * that differs between databases has its own tests on both.
 */
export class MoneyPages {
  readonly stripe: StripeSimulator;
  readonly database: Kysely<Tables>;
  readonly stage: Stage;
  readonly #prepared = new WeakSet<Page>();
  #codes = 0;

  private constructor(stripe: StripeSimulator, stage: Stage) {
    this.stripe = stripe;
    this.stage = stage;
    this.database = stage.database;
  }

  static async open(): Promise<MoneyPages> {
    const stripe = await startStripeSimulator();
    const stage = await openStage({
      environment: { STRIPE_SECRET_KEY: 'sk_test_simulated', STRIPE_WEBHOOK_SECRET: stripe.secret },
      settings: { payments: { stripe_api_url: stripe.url, bank_transfer: 'IBAN XX00 1234' }, plans: PLANS },
    });
    return new MoneyPages(stripe, stage);
  }

  async close(): Promise<void> {
    await this.stage.close();
    await this.stripe.stop();
  }

  /** Opens a browser context of a new user with ten dollars of credit. */
  async enter(options?: Parameters<Stage['enter']>[0]): Promise<Visit> {
    return this.#prepare(await this.stage.enter(options));
  }

  /** Does the same in the tab of the last user who came this way, whose visit is over. */
  async enterSameTab(look?: Look): Promise<Visit> {
    return this.#prepare(await this.stage.enterSameTab(look));
  }

  /** Pays on Stripe's page and returns. Stripe has not sent its event yet. */
  async payAtCheckout(page: Page): Promise<string> {
    await page.waitForURL('https://checkout.example.com/**');
    const session = page.url().split('/').at(-1) ?? '';
    this.stripe.books.pay(session);
    await page.goto(String(this.stripe.books.sessions.get(session)?.['success_url']));
    return session;
  }

  /** Delivers Stripe's events about a checkout session. */
  async deliver(session: string): Promise<void> {
    const events = this.stripe.books.events.filter(({ data }) => JSON.stringify(data).includes(`"${session}"`));
    for (const event of events) await this.send(event);
  }

  /** Delivers one Stripe event to the webhook. */
  async send(event: StripeObject): Promise<void> {
    expect(await this.stripe.deliver(event, `${this.stage.service.url}/webhooks/stripe`)).toBe(200);
  }

  async topUp(page: Page, savesCard = false): Promise<void> {
    await page.goto('/billing');
    if (savesCard) await page.getByLabel('Save the card').check();
    await page.getByRole('button', { name: 'Pay $10.00' }).click();
    await this.deliver(await this.payAtCheckout(page));
    await see(page, '$10.00 was added to your balance');
  }

  async makeCode(benefit: PromoBenefit, rules: Partial<PromoRules> = {}): Promise<string> {
    this.#codes += 1;
    const which = { code: `T${String(this.#codes).padStart(3, '0')}-${crypto.randomUUID().slice(0, 8)}`.toUpperCase() };
    const made = await new PromoCodes(this.database).create(which, benefit, {
      usesMax: 1,
      perAccount: 1,
      minimumTopUp: usd('0'),
      ...rules,
    });
    return made?.[0]?.code ?? '';
  }

  /** Creates or changes a plan, as the operator does. */
  async savePlan(changes: Partial<Plan>): Promise<void> {
    await new Plans(this.database).save(planOf('moving', { included: usd('1'), ...changes }), 'command');
  }

  async periodEnd(accountId: string): Promise<number> {
    const row = await this.database
      .selectFrom('subscriptions')
      .select('period_end')
      .where('account_id', '=', accountId)
      .executeTakeFirstOrThrow();
    return Number(row.period_end);
  }

  /** Each test decides what happens at Stripe's. */
  async #prepare(visit: Visit): Promise<Visit> {
    visit.page.setDefaultTimeout(SEEN_WITHIN_MS);
    if (!this.#prepared.has(visit.page)) await stubCheckout(visit.page);
    this.#prepared.add(visit.page);
    return visit;
  }

  async expectSound(): Promise<void> {
    const checks = await verifyLedger(this.database, { longestRequestMs: LONGEST_REQUEST_MS });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  }
}

/**
 * Replaces Stripe's checkout page by a stub. A route would do the same, but with any route the browser loads each script of each page again,
 * which takes longer than the rest of the page.
 */
async function stubCheckout(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const body = Buffer.from('<h1>Stripe</h1>').toString('base64');
  devtools.on('Fetch.requestPaused', ({ requestId }) => void devtools.send('Fetch.fulfillRequest', { requestId, responseCode: 200, body }));
  await devtools.send('Fetch.enable', { patterns: [{ urlPattern: 'https://checkout.example.com/*' }] });
}

export async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Waits for the balance shown beside every page. */
export async function seeBalance(page: Page, amount: string): Promise<void> {
  await page.locator('a[href="/billing"]').filter({ hasText: amount }).first().waitFor();
}
