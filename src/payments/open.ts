import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { MoneyClock } from './clock.ts';
import { openCustomers } from './customers.ts';
import { PaymentDesk } from './desk.ts';
import type { KeptCustomer } from './forget-customers.ts';
import { ManualDriver } from './manual.ts';
import type { PaymentsConfig } from './payment-settings.ts';
import type { PaymentDriver } from './payments.ts';
import type { Replay, WebhookReports } from './webhook.ts';

/** The services that handle incoming money. */
export interface MoneyIn {
  readonly desk: PaymentDesk;
  readonly clock: MoneyClock;
  /** Bank details shown to people who pay by bank transfer. */
  readonly bankTransfer: string | undefined;
  /** Processes a Stripe event again; undefined if Stripe is not configured. */
  readonly replay: ((eventId: string, actor: string) => Promise<Replay>) | undefined;
}

interface MoneyInOptions {
  readonly database: Kysely<Tables>;
  readonly payments: PaymentsConfig;
  /** Public address of the service. */
  readonly url: string;
  /** Called if a provider refuses our key. */
  readonly onRefused?: () => void;
  /** Called for customers of closed accounts that a provider did not delete. */
  readonly onKept?: (customer: KeptCustomer) => void;
}

/** Opens the payment providers that the settings enable. Stripe's package is loaded only if it is used, to save memory. */
export async function openMoneyIn({ database, payments, url, onRefused, onKept }: MoneyInOptions): Promise<MoneyIn> {
  const { stripe: settings, bankTransfer, rules } = payments;
  const drivers: PaymentDriver[] = bankTransfer === undefined ? [] : [new ManualDriver()];
  let replay: MoneyIn['replay'];
  if (settings !== undefined) {
    const { openStripe, StripeDriver } = await import('./stripe.ts');
    const stripe = openStripe(settings);
    replay = async (eventId, actor) => (await import('./webhook.ts')).replayEvent({ database, stripe }, eventId, actor);
    drivers.unshift(new StripeDriver(stripe, { customers: openCustomers(database, 'stripe'), returnUrl: `${url}/billing`, onRefused }));
  }
  const desk = new PaymentDesk(database, drivers, rules);
  return { desk, clock: new MoneyClock(database, desk, onKept), bankTransfer, replay };
}

/** Opens the handler of `POST /webhooks/stripe`. Returns undefined without a secret; then the address does not exist. */
export async function openStripeWebhook(
  database: Kysely<Tables>,
  { stripe: settings }: PaymentsConfig,
  reports: WebhookReports,
): Promise<((request: Request) => Promise<Response>) | undefined> {
  if (settings?.webhookSecret === undefined) return undefined;
  const { openStripe } = await import('./stripe.ts');
  const { stripeWebhook } = await import('./webhook.ts');
  return stripeWebhook({ database, stripe: openStripe(settings), secret: settings.webhookSecret, ...reports });
}
