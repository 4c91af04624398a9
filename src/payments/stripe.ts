import { Stripe } from 'stripe';
import { HOUR_MS } from '../durations.ts';
import type { Customers } from './customers.ts';
import {
  CURRENCY,
  type Card,
  type DriverAnswer,
  type PaidFacts,
  type PaymentDriver,
  type PaymentOrder,
  type ProviderPayment,
} from './payments.ts';

/** Settings of Stripe's client. */
interface StripeSettings {
  readonly secretKey: string;
  /** Replaces Stripe's own address, for tests and proxies. */
  readonly apiUrl: string | undefined;
}

const REQUEST_MS = 10_000;
/** Stripe keeps an idempotency key for at least a day. After that a retry might charge again. */
const KEY_LIVES_MS = 20 * HOUR_MS;
const CARDS_MAX = 20;
const NEVER_MADE: DriverAnswer = { type: 'expired', reason: 'the charge was never made' };

/** Metadata key of our payment id on Stripe's objects. */
export const PAYMENT_KEY = 'tollgate_payment';
/** Metadata key of our account id on Stripe's objects. */
export const ACCOUNT_KEY = 'tollgate_account';
/** Marks charges of saved cards: if one is declined, no payer is present to try another card. */
export const SAVED_CARD_KEY = 'tollgate_saved_card';

/** Opens Stripe's client without its own retries: a request without a response is `unknown`, and the clock asks again. */
export function openStripe({ secretKey, apiUrl }: StripeSettings): Stripe {
  const address = apiUrl === undefined ? undefined : new URL(apiUrl);
  return new Stripe(secretKey, {
    timeout: REQUEST_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    ...(address !== undefined && {
      host: address.hostname,
      port: address.port === '' ? (address.protocol === 'https:' ? 443 : 80) : Number(address.port),
      protocol: address.protocol === 'https:' ? ('https' as const) : ('http' as const),
    }),
  });
}

interface StripeDriverOptions {
  readonly customers: Customers;
  /** Where payers return to. */
  readonly returnUrl: string;
  readonly clock?: () => number;
  /** Called if Stripe refuses our key, which only the operator can fix. */
  readonly onRefused?: (() => void) | undefined;
}

/** Cards through Stripe: Checkout if the payer is present, a payment intent for a saved card. */
export class StripeDriver implements PaymentDriver {
  readonly name = 'stripe' as const;
  readonly cards = {
    charge: (order: PaymentOrder): Promise<DriverAnswer> => this.#charge(order),
    list: (accountId: string): Promise<readonly Card[]> => this.#listCards(accountId),
    remove: (accountId: string, methodRef: string): Promise<boolean> => this.#removeCard(accountId, methodRef),
  };
  readonly #stripe: Stripe;
  readonly #customers: Customers;
  readonly #returnUrl: string;
  readonly #clock: () => number;
  readonly #onRefused: () => void;

  constructor(stripe: Stripe, { customers, returnUrl, clock = Date.now, onRefused = () => undefined }: StripeDriverOptions) {
    this.#stripe = stripe;
    this.#customers = customers;
    this.#returnUrl = returnUrl;
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  async begin(order: PaymentOrder): Promise<DriverAnswer> {
    return this.#paying(async () => {
      const customer = await this.#customerOf(order);
      try {
        return await this.#openSession(order, customer);
      } catch (error) {
        // Deleted in Stripe's dashboard, or known only to a key of the other mode.
        if (!isMissing(error) || error.param !== 'customer') throw error;
        return this.#openSession(order, await this.#customerOf(order, customer));
      }
    });
  }

  async poll(order: PaymentOrder): Promise<DriverAnswer> {
    const { sessionRef, providerRef } = order;
    const expand = ['payment_intent'];
    if (sessionRef !== undefined)
      return this.#reading(async () => readSession(await this.#stripe.checkout.sessions.retrieve(sessionRef, { expand })));
    if (providerRef !== undefined) return this.#reading(async () => readIntent(await this.#stripe.paymentIntents.retrieve(providerRef)));
    // Stripe's response was lost. The same request with the same idempotency key returns it again.
    const isKeyKnown = this.#clock() - order.createdAtMs < KEY_LIVES_MS;
    if (order.methodRef === undefined) return isKeyKnown ? this.begin(order) : { type: 'expired' };
    return isKeyKnown && order.isUnwanted !== true ? this.#charge(order) : this.#find(order);
  }

  async receiptUrl(providerRef: string): Promise<string | undefined> {
    const intent = await this.#stripe.paymentIntents.retrieve(providerRef, { expand: ['latest_charge'] }).catch((error: unknown) => {
      // It was made with a key of Stripe's other mode, test or live.
      if (isMissing(error)) return undefined;
      throw error;
    });
    const charge = typeof intent?.latest_charge === 'object' ? intent.latest_charge : null;
    return charge?.receipt_url ?? undefined;
  }

  async forget(customerRef: string): Promise<boolean> {
    try {
      await this.#stripe.customers.del(customerRef);
      return true;
    } catch (error) {
      // Already deleted, perhaps by a request whose response was lost.
      if (isMissing(error)) return true;
      this.#toUnknown(error);
      return false;
    }
  }

  async *list(sinceMs: number): AsyncIterable<ProviderPayment> {
    const created = { gte: Math.floor(sinceMs / 1000) };
    const disputed = new Map<string, number>();
    for await (const dispute of this.#stripe.disputes.list({ created, limit: 100 })) {
      const ref = idOf(dispute.payment_intent);
      if (ref !== undefined && !isInquiry(dispute) && !isDisputeLifted(dispute))
        disputed.set(ref, (disputed.get(ref) ?? 0) + dispute.amount);
    }
    for await (const intent of this.#stripe.paymentIntents.list({ created, limit: 100, expand: ['data.latest_charge'] })) {
      const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
      const cents = intent.status === 'succeeded' ? intent.amount_received : intent.amount;
      yield {
        providerRef: intent.id,
        paymentId: intent.metadata[PAYMENT_KEY],
        isPaid: intent.status === 'succeeded',
        cents,
        currency: intent.currency,
        reversedCents: Math.min(cents, (charge?.amount_refunded ?? 0) + (disputed.get(intent.id) ?? 0)),
        createdAtMs: intent.created * 1000,
      };
    }
  }

  /** Returns the customer of an account, and creates it if it is missing or `gone`. The idempotency key and our row prevent duplicates. */
  async #customerOf({ accountId, email }: PaymentOrder, gone?: string): Promise<string> {
    const known = await this.#customers.find(accountId);
    if (known !== undefined && known !== gone) return known;
    const customer = await this.#stripe.customers.create(
      { email, metadata: { [ACCOUNT_KEY]: accountId } },
      { idempotencyKey: ['customer', accountId, ...(gone === undefined ? [] : [gone])].join('_') },
    );
    return this.#customers.keep(accountId, customer.id, gone);
  }

  async #openSession(order: PaymentOrder, customer: string): Promise<DriverAnswer> {
    const metadata = metadataOf(order);
    const session = await this.#stripe.checkout.sessions.create(
      {
        mode: 'payment',
        customer,
        client_reference_id: order.paymentId,
        metadata,
        line_items: [
          { quantity: 1, price_data: { currency: CURRENCY, unit_amount: order.cents, product_data: { name: order.description } } },
        ],
        payment_intent_data: { metadata, ...(order.savesCard && { setup_future_usage: 'off_session' as const }) },
        // A price in the payer's own currency would include a fee for the conversion.
        adaptive_pricing: { enabled: false },
        success_url: `${this.#returnUrl}?payment=${order.paymentId}`,
        cancel_url: `${this.#returnUrl}?left=${order.paymentId}`,
      },
      { idempotencyKey: `${order.paymentId}_${customer}` },
    );
    return readSession(session);
  }

  async #charge(order: PaymentOrder): Promise<DriverAnswer> {
    return this.#paying(async () => {
      const customer = await this.#customers.find(order.accountId);
      if (customer === undefined || order.methodRef === undefined) return { type: 'failed', reason: 'no card is saved' };
      const intent = await this.#stripe.paymentIntents.create(
        {
          amount: order.cents,
          currency: CURRENCY,
          customer,
          payment_method: order.methodRef,
          automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
          description: order.description,
          metadata: { ...metadataOf(order), [SAVED_CARD_KEY]: 'yes' },
          confirm: true,
          off_session: true,
        },
        { idempotencyKey: order.paymentId },
      );
      return readIntent(intent);
    });
  }

  /** Looks for a charge in the customer's list. Used if repeating the request might make a second or an unwanted charge. */
  async #find(order: PaymentOrder): Promise<DriverAnswer> {
    return this.#reading(async () => {
      const customer = await this.#customers.find(order.accountId);
      if (customer === undefined) return NEVER_MADE;
      const created = { gte: Math.floor(order.createdAtMs / 1000) - 60 };
      for await (const intent of this.#stripe.paymentIntents.list({ customer, created, limit: 100 }))
        if (intent.metadata[PAYMENT_KEY] === order.paymentId) return readIntent(intent);
      return NEVER_MADE;
    });
  }

  /** Runs a request that makes a payment. A declined card means failed. Errors that say nothing about the payment mean unknown. */
  async #paying(work: () => Promise<DriverAnswer>): Promise<DriverAnswer> {
    try {
      return await work();
    } catch (error) {
      const { StripeCardError, StripeInvalidRequestError } = Stripe.errors;
      if (error instanceof StripeCardError) return { type: 'failed', reason: readReason(error.decline_code ?? error.code ?? '') };
      if (error instanceof StripeInvalidRequestError && error.statusCode === 400)
        return { type: 'failed', reason: `Stripe refused the request (${readReason(error.code ?? 'invalid request')})` };
      return this.#toUnknown(error);
    }
  }

  /** Runs a read request. Its failure says nothing about the payment. */
  async #reading(work: () => Promise<DriverAnswer>): Promise<DriverAnswer> {
    try {
      return await work();
    } catch (error) {
      return this.#toUnknown(error);
    }
  }

  #toUnknown(error: unknown): DriverAnswer {
    const { StripeAuthenticationError, StripePermissionError, StripeError } = Stripe.errors;
    if (error instanceof StripeAuthenticationError || error instanceof StripePermissionError) this.#onRefused();
    if (error instanceof StripeError) return { type: 'unknown' };
    throw error;
  }

  async #listCards(accountId: string): Promise<readonly Card[]> {
    const customer = await this.#customers.find(accountId);
    if (customer === undefined) return [];
    const cards = await this.#stripe.customers.listPaymentMethods(customer, { type: 'card', limit: CARDS_MAX }).catch((error: unknown) => {
      // A deleted customer has no cards.
      if (isMissing(error)) return { data: [] };
      throw error;
    });
    return cards.data.map(({ id, card }) => ({
      methodRef: id,
      brand: card?.brand ?? 'card',
      lastFour: card?.last4 ?? '',
      expires: card === undefined ? '' : `${String(card.exp_month).padStart(2, '0')}/${card.exp_year}`,
    }));
  }

  async #removeCard(accountId: string, methodRef: string): Promise<boolean> {
    const cards = await this.#listCards(accountId);
    if (!cards.some((card) => card.methodRef === methodRef)) return false;
    await this.#stripe.paymentMethods.detach(methodRef);
    return true;
  }
}

function isMissing(error: unknown): error is Stripe.errors.StripeInvalidRequestError {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

/** Reads the facts of a completed payment from a session or intent. Returns undefined if it is not ours. */
export function readPaid(object: Stripe.Checkout.Session | Stripe.PaymentIntent): PaidFacts | undefined {
  const paymentId = object.metadata?.[PAYMENT_KEY];
  const accountId = object.metadata?.[ACCOUNT_KEY];
  if (paymentId === undefined || accountId === undefined) return undefined;
  const ours = { provider: 'stripe', paymentId, accountId } as const;
  if (object.object === 'payment_intent')
    return { ...ours, providerRef: object.id, cents: object.amount_received, currency: object.currency };
  const providerRef = idOf(object.payment_intent);
  if (providerRef === undefined) return undefined;
  return { ...ours, providerRef, sessionRef: object.id, cents: object.amount_total ?? 0, currency: object.currency ?? '' };
}

/** Returns the id of an object that Stripe sends either as an id or as a whole. */
export function idOf(object: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof object === 'string' ? object : object?.id;
}

/** Returns true if a bank only inquires, which takes no money. */
export function isInquiry({ status }: Stripe.Dispute): boolean {
  return status === 'warning_needs_response' || status === 'warning_under_review';
}

/** Returns true if the money of a dispute is ours again. */
export function isDisputeLifted({ status }: Stripe.Dispute): boolean {
  return status === 'won' || status === 'warning_closed' || status === 'prevented';
}

function metadataOf({ paymentId, accountId }: PaymentOrder): Record<string, string> {
  return { [PAYMENT_KEY]: paymentId, [ACCOUNT_KEY]: accountId };
}

function readSession(session: Stripe.Checkout.Session): DriverAnswer {
  const facts = session.payment_status === 'paid' ? readPaid(session) : undefined;
  if (facts !== undefined) return { type: 'paid', facts };
  if (session.status === 'expired') return { type: 'expired' };
  // A slow payment, such as a bank debit, failed. A complete session cannot be paid any more.
  const intent = typeof session.payment_intent === 'string' ? null : session.payment_intent;
  if (session.status === 'complete' && (intent?.status === 'requires_payment_method' || intent?.status === 'canceled'))
    return readIntent(intent);
  return { type: 'open', sessionRef: session.id, ...(typeof session.url === 'string' && { address: session.url }) };
}

function readIntent(intent: Stripe.PaymentIntent): DriverAnswer {
  const facts = intent.status === 'succeeded' ? readPaid(intent) : undefined;
  if (facts !== undefined) return { type: 'paid', facts };
  if (intent.status === 'processing') return { type: 'open', providerRef: intent.id };
  return { type: 'failed', reason: readReason(intent.last_payment_error?.code ?? intent.status) };
}

/** Converts one of Stripe's codes to words. Anything that does not look like a code is not shown. */
export function readReason(code: string): string {
  return /^[a-z0-9_ ]{1,60}$/u.test(code) ? code.replaceAll('_', ' ') : 'declined';
}
