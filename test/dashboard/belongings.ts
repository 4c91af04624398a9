import { expect } from 'bun:test';
import { Stripe } from 'stripe';
import { runExports } from '../../src/dashboard/export-clock.ts';
import { makeId } from '../../src/ids.ts';
import { stripeWebhook } from '../../src/payments/webhook.ts';
import type { StripeSimulator } from '../simulator/stripe.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import type { TestBrowser, TestDashboard } from './open-dashboard.ts';

/** The ids of everything that a person can own. */
export interface Belongings {
  readonly key: string;
  readonly session: string;
  readonly passkey: string;
  /** A linked account at an identity provider. */
  readonly linked: string;
  readonly rule: string;
  readonly delivery: string;
  readonly request: string;
  readonly export: string;
  readonly view: string;
  readonly payment: string;
  readonly card: string;
}

export const KEY_NAME = 'a key of somebody';
const DAY_MS = 86_400_000;

/** Creates one of each for the person in a browser. */
export async function giveBelongings(dashboard: TestDashboard, browser: TestBrowser, stripe: StripeSimulator): Promise<Belongings> {
  const { database } = dashboard.dependencies;
  const { id: accountId, email } = (await read(browser, '/api/account')) as { id: string; email: string };
  const { id: key } = (await send(browser, 'POST', '/api/keys', { name: KEY_NAME })) as { id: string };
  const { id: rule } = (await send(browser, 'POST', '/api/alerts/rules', {
    kind: 'low_balance',
    threshold: '5',
    byMail: false,
    byWebhook: true,
  })) as { id: string };
  await send(browser, 'PUT', '/api/alerts/webhook', { url: 'https://hooks.example.com/' });
  const { id: delivery } = (await send(browser, 'POST', '/api/alerts/test', { channel: 'webhook' })) as { id: string };
  await send(browser, 'PUT', '/api/usage/views', { page: 'usage', name: 'a view', search: 'group=key' });
  const { views } = (await read(browser, '/api/usage/views?page=usage')) as { views: { id: string }[] };
  const { sessions } = (await read(browser, '/api/settings/sessions')) as { sessions: { id: string; isThisOne: boolean }[] };
  await seedUsage(database, { accountId, rows: 3, fromMs: Date.now() - DAY_MS, toMs: Date.now() });
  const request = await database.kysely.selectFrom('usage').select('request_id').where('account_id', '=', accountId).executeTakeFirst();
  const file = await exportRequests(dashboard, browser);
  const payment = await pay(dashboard, browser, stripe);
  const { cards } = (await read(browser, '/api/billing/cards')) as { cards: { methodRef: string }[] };
  const { id: quoteId, atMs } = (await read(browser, '/api/plans/quote?planId=basic')) as { id: string; atMs: number };
  await send(browser, 'POST', '/api/plans/take', { planId: 'basic', atMs, quoteId, payBy: 'balance' });
  return {
    key,
    session: sessions.find(({ isThisOne }) => !isThisOne)?.id ?? '',
    passkey: await insertPasskey(dashboard, email),
    linked: await insertLink(dashboard, email),
    rule,
    delivery,
    request: request?.request_id ?? '',
    export: file,
    view: views[0]?.id ?? '',
    payment,
    card: cards[0]?.methodRef ?? '',
  };
}

/** Stores a passkey as the library would, without a device. */
export async function insertPasskey({ dependencies: { auth } }: TestDashboard, email: string): Promise<string> {
  const { adapter, internalAdapter } = await auth.library.$context;
  const found = await internalAdapter.findUserByEmail(email);
  const data = {
    userId: found?.user.id ?? '',
    publicKey: 'x',
    credentialID: makeId('credential'),
    counter: 0,
    deviceType: 'singleDevice',
    backedUp: false,
  };
  const { id } = await adapter.create<Record<string, unknown>, { id: string }>({ model: 'passkey', data });
  return id;
}

/** Stores a linked account without visiting the provider. */
async function insertLink({ dependencies: { auth } }: TestDashboard, email: string): Promise<string> {
  const { internalAdapter } = await auth.library.$context;
  const found = await internalAdapter.findUserByEmail(email);
  const { id } = await internalAdapter.createAccount({ userId: found?.user.id ?? '', providerId: 'github', accountId: makeId('github') });
  return id;
}

/** Requests an export and completes it. */
async function exportRequests({ dependencies }: TestDashboard, browser: TestBrowser): Promise<string> {
  const range = { from: Date.now() - DAY_MS, to: Date.now() };
  const { id } = (await send(browser, 'POST', '/api/requests/exports', range)) as { id: string };
  await runExports(dependencies, 'worker', new AbortController().signal);
  return id;
}

/** Makes a payment with a card and saves the card. */
async function pay({ dependencies: { database } }: TestDashboard, browser: TestBrowser, stripe: StripeSimulator): Promise<string> {
  const webhook = stripeWebhook({ database: database.kysely, stripe: new Stripe('sk_test_simulated'), secret: stripe.secret });
  const form = { amountUsd: '50', provider: 'stripe', savesCard: true };
  const { id } = (await send(browser, 'POST', '/api/billing/top-ups', form)) as { id: string };
  const from = stripe.books.events.length;
  stripe.books.pay(stripe.books.sessionOf(id));
  for (const event of stripe.books.events.slice(from)) await stripe.deliver(event, webhook);
  return id;
}

async function read(browser: TestBrowser, path: string): Promise<unknown> {
  return (await browser.get(path)).json();
}

async function send(browser: TestBrowser, method: 'POST' | 'PUT', path: string, body: unknown): Promise<unknown> {
  const response = await browser.send(method, path, body);
  expect([path, response.ok ? 'ok' : await response.text()]).toEqual([path, 'ok']);
  return response.json();
}
