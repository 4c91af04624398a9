import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { MoneyClock } from './clock.ts';
import { openCustomers } from './customers.ts';
import { PaymentDesk } from './desk.ts';
import type { KeptCustomer } from './forget-customers.ts';
import { ManualDriver } from './manual.ts';
import type { PaymentsConfig } from './payment-settings.ts';
import type { PaymentDriver } from './payments.ts';
import type { Replay } from './webhook.ts';

/** Everything that money comes in by. */
export interface MoneyIn {
  readonly desk: PaymentDesk;
  readonly clock: MoneyClock;
  /** What somebody who pays by bank transfer is told. */
  readonly bankTransfer: string | undefined;
  /** Works once more on an event of Stripe; undefined where Stripe is not set up. */
  readonly replay: ((eventId: string, actor: string) => Promise<Replay>) | undefined;
}

interface MoneyInOptions {
  readonly database: Kysely<Tables>;
  readonly payments: PaymentsConfig;
  /** The service's own address. */
  readonly url: string;
  /** Told when a provider refuses our key. */
  readonly onRefused?: () => void;
  /** Told of customers of closed accounts whom a provider did not delete. */
  readonly onKept?: (customer: KeptCustomer) => void;
}

/** Opens the ways to pay that the settings switch on. Stripe's package is loaded where it is used: it takes memory of its own. */
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

/** Opens what answers `POST /webhooks/stripe`; undefined without a secret, and then the address does not exist. */
export async function openStripeWebhook(
  database: Kysely<Tables>,
  { stripe: settings }: PaymentsConfig,
  onRefused: (eventId: string) => void,
): Promise<((request: Request) => Promise<Response>) | undefined> {
  if (settings?.webhookSecret === undefined) return undefined;
  const { openStripe } = await import('./stripe.ts');
  const { stripeWebhook } = await import('./webhook.ts');
  return stripeWebhook({ database, stripe: openStripe(settings), secret: settings.webhookSecret, onRefused });
}
