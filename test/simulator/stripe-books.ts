/** An object as in Stripe's API. */
export type StripeObject = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly value: unknown;
}

/** What a payer, or a bank, does differently than usual. */
interface Payment {
  readonly cents?: number;
  readonly currency?: string;
  readonly metadata?: StripeObject;
}

const MINUTE_SECONDS = 60;

/** The state behind the simulator: customers, cards, sessions, intents, refunds, disputes, and the events created. */
export class StripeBooks {
  readonly sessions = new Map<string, StripeObject>();
  readonly intents = new Map<string, StripeObject>();
  readonly customers = new Map<string, StripeObject>();
  readonly cards = new Map<string, StripeObject>();
  readonly disputes: StripeObject[] = [];
  readonly events: StripeObject[] = [];
  /** Cards whose charges are declined, with the code. */
  readonly declined = new Map<string, string>();
  clock: () => number = Date.now;
  #count = 0;

  answer(method: string, path: string, form: StripeObject): Answer {
    const [, , kind = '', id, action] = path.split('/');
    switch (`${method} ${kind}${id === undefined ? '' : '/id'}${action === undefined ? '' : `/${action}`}`) {
      case 'POST customers':
        return ok(this.#keep(this.customers, 'cus', { object: 'customer', ...form }));
      case 'DELETE customers/id':
        return this.#forget(id ?? '');
      case 'GET customers/id/payment_methods':
        return this.customers.has(id ?? '')
          ? ok(list([...this.cards.values()].filter((card) => card['customer'] === id)))
          : found(undefined);
      case 'POST payment_methods/id/detach':
        return ok(this.#detach(id ?? ''));
      case 'POST checkout/id':
        return this.customers.has(String(form['customer'])) ? ok(this.#openSession(form)) : NO_SUCH_CUSTOMER;
      case `GET checkout/id/${action}`:
        return found(this.#expand(this.sessions.get(action ?? ''), form));
      case 'POST payment_intents':
        return this.customers.has(String(form['customer'])) ? this.#charge(form) : NO_SUCH_CUSTOMER;
      case 'GET payment_intents':
        return ok(
          list([...this.intents.values()].filter((intent) => form['customer'] === undefined || intent['customer'] === form['customer'])),
        );
      case 'GET payment_intents/id':
        return found(this.intents.get(id ?? ''));
      case 'GET disputes':
        return ok(list(this.disputes));
      case 'GET events/id':
        return found(this.events.find((event) => event['id'] === id));
      default:
        return { status: 404, value: { error: { type: 'invalid_request_error', message: `not simulated: ${method} ${path}` } } };
    }
  }

  /** Pays a session and returns the intent. */
  pay(sessionId: string, payment: Payment = {}): StripeObject {
    const session = need(this.sessions, sessionId);
    const cents = payment.cents ?? Number(session['amount_total']);
    const currency = payment.currency ?? String(session['currency']);
    const metadata = { ...(session['metadata'] as StripeObject), ...payment.metadata };
    const intent = this.#makeIntent({ customer: session['customer'], metadata, currency, cents });
    Object.assign(session, {
      status: 'complete',
      payment_status: 'paid',
      payment_intent: intent['id'],
      amount_total: cents,
      currency,
      metadata,
    });
    if (session['saves_card'] === true) this.addCard(String(session['customer']));
    this.#tell('payment_intent.succeeded', intent);
    this.#tell('checkout.session.completed', session);
    return intent;
  }

  /** Pays by a slow method, such as a bank debit, that then fails. */
  payInVain(sessionId: string): void {
    const session = need(this.sessions, sessionId);
    const { customer, metadata, currency } = session;
    const cents = Number(session['amount_total']);
    const intent = this.#makeIntent({ customer, metadata: metadata as StripeObject, currency: String(currency), cents });
    Object.assign(session, { status: 'complete', payment_intent: intent['id'], url: null });
    Object.assign(intent, { status: 'processing', amount_received: 0 });
    this.#tell('checkout.session.completed', session);
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: { code: 'payment_method_microdeposit_failed' } });
    this.#tell('payment_intent.payment_failed', intent);
    this.#tell('checkout.session.async_payment_failed', session);
  }

  expire(sessionId: string): void {
    const session = need(this.sessions, sessionId);
    Object.assign(session, { status: 'expired', url: null });
    this.#tell('checkout.session.expired', session);
  }

  refund(intentId: string, cents: number): StripeObject {
    const charge = need(this.intents, intentId)['latest_charge'] as StripeObject;
    charge['amount_refunded'] = Number(charge['amount_refunded']) + cents;
    const refund = {
      id: this.#id('re'),
      object: 'refund',
      amount: cents,
      status: 'succeeded',
      payment_intent: intentId,
      charge: charge['id'],
    };
    this.#tell('refund.created', refund);
    this.#tell('charge.refunded', charge);
    this.#tell('refund.updated', refund);
    return refund;
  }

  /** The bank returns a refund. */
  failRefund(refund: StripeObject): void {
    const charge = need(this.intents, String(refund['payment_intent']))['latest_charge'] as StripeObject;
    charge['amount_refunded'] = Number(charge['amount_refunded']) - Number(refund['amount']);
    this.#tell('refund.failed', { ...refund, status: 'failed' });
  }

  dispute(intentId: string, cents?: number): StripeObject {
    const amount = cents ?? need(this.intents, intentId)['amount'];
    const dispute = { id: this.#id('dp'), object: 'dispute', amount, status: 'needs_response', payment_intent: intentId };
    this.disputes.push(dispute);
    this.#tell('charge.dispute.created', dispute);
    this.#tell('charge.dispute.funds_withdrawn', dispute);
    return dispute;
  }

  /** The bank changes the amount of a dispute. The event is newer than those before, by a minute if not told otherwise. */
  changeDispute(dispute: StripeObject, cents: number, laterSeconds = MINUTE_SECONDS): void {
    dispute['amount'] = cents;
    this.#tell('charge.dispute.updated', dispute, laterSeconds);
  }

  closeDispute(dispute: StripeObject, status: 'won' | 'lost'): void {
    dispute['status'] = status;
    this.#tell('charge.dispute.closed', dispute);
    if (status === 'won') this.#tell('charge.dispute.funds_reinstated', dispute);
  }

  /** Saves a card for a customer. */
  addCard(customer: string, lastFour = '4242'): string {
    return String(
      this.#keep(this.cards, 'pm', {
        object: 'payment_method',
        type: 'card',
        customer,
        card: { brand: 'visa', last4: lastFour, exp_month: 4, exp_year: 2031 },
      })['id'],
    );
  }

  /** Returns the session of one of our payments. */
  sessionOf(paymentId: string): string {
    const session = [...this.sessions.values()].find((candidate) => candidate['client_reference_id'] === paymentId);
    if (session === undefined) throw new Error(`no session for ${paymentId}`);
    return String(session['id']);
  }

  #expand(session: StripeObject | undefined, form: StripeObject): StripeObject | undefined {
    const isAsked = Object.values((form['expand'] ?? {}) as StripeObject).includes('payment_intent');
    return session === undefined || !isAsked
      ? session
      : { ...session, payment_intent: this.intents.get(String(session['payment_intent'])) ?? null };
  }

  #openSession(form: StripeObject): StripeObject {
    const item = (form['line_items'] as StripeObject)['0'] as StripeObject;
    const price = item['price_data'] as StripeObject;
    const intent = (form['payment_intent_data'] ?? {}) as StripeObject;
    const id = this.#id('cs');
    const session = {
      id,
      object: 'checkout.session',
      url: `https://checkout.example.com/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      customer: form['customer'],
      client_reference_id: form['client_reference_id'],
      metadata: form['metadata'] ?? {},
      amount_total: Number(price['unit_amount']) * Number(item['quantity']),
      currency: price['currency'],
      // Unless the request says otherwise, the setting of the Stripe account decides.
      adaptive_pricing: form['adaptive_pricing'] ?? { enabled: 'true' },
      success_url: form['success_url'],
      saves_card: intent['setup_future_usage'] === 'off_session',
    };
    this.sessions.set(id, session);
    return session;
  }

  /** Charges a saved card at once, or declines it. */
  #charge(form: StripeObject): Answer {
    const cents = Number(form['amount']);
    const card = String(form['payment_method']);
    const metadata = (form['metadata'] ?? {}) as StripeObject;
    const code = this.cards.has(card) ? this.declined.get(card) : 'resource_missing';
    const intent = this.#makeIntent({ customer: form['customer'], metadata, currency: String(form['currency']), cents });
    intent['payment_method'] = card;
    if (code === undefined) {
      this.#tell('payment_intent.succeeded', intent);
      return ok(intent);
    }
    Object.assign(intent, {
      status: 'requires_payment_method',
      amount_received: 0,
      last_payment_error: { code: 'card_declined', decline_code: code },
    });
    this.#tell('payment_intent.payment_failed', intent);
    return {
      status: 402,
      value: {
        error: {
          type: 'card_error',
          code: 'card_declined',
          decline_code: code,
          message: 'Your card was declined.',
          payment_intent: intent,
        },
      },
    };
  }

  #makeIntent({
    customer,
    metadata,
    currency,
    cents,
  }: {
    customer: unknown;
    metadata: StripeObject;
    currency: string;
    cents: number;
  }): StripeObject {
    const id = this.#id('pi');
    const charge = {
      id: this.#id('ch'),
      object: 'charge',
      payment_intent: id,
      amount: cents,
      amount_refunded: 0,
      receipt_url: `https://pay.example.com/receipts/${id}`,
    };
    const created = Math.floor(this.clock() / 1000);
    const intent = {
      id,
      object: 'payment_intent',
      status: 'succeeded',
      amount: cents,
      amount_received: cents,
      currency,
      customer,
      metadata,
      created,
      latest_charge: charge,
    };
    this.intents.set(id, intent);
    return intent;
  }

  /** Deletes a customer and their cards. Payments stay. */
  #forget(id: string): Answer {
    if (!this.customers.delete(id)) return found(undefined);
    for (const [name, card] of this.cards) if (card['customer'] === id) this.cards.delete(name);
    return ok({ id, object: 'customer', deleted: true });
  }

  #detach(id: string): StripeObject {
    const card = need(this.cards, id);
    card['customer'] = null;
    return card;
  }

  #tell(type: string, object: StripeObject, laterSeconds = 0): void {
    this.events.push({
      id: this.#id('evt'),
      object: 'event',
      type,
      created: Math.floor(this.clock() / 1000) + laterSeconds,
      // A snapshot: later changes to the object are not in this event.
      data: {
        object: structuredClone({
          ...object,
          ...(typeof object['latest_charge'] === 'object' && { latest_charge: (object['latest_charge'] as StripeObject)['id'] }),
        }),
      },
    });
  }

  #keep(shelf: Map<string, StripeObject>, prefix: string, object: StripeObject): StripeObject {
    const kept = { id: this.#id(prefix), ...object };
    shelf.set(kept.id, kept);
    return kept;
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(6, '0')}`;
  }
}

function need(shelf: Map<string, StripeObject>, id: string): StripeObject {
  const object = shelf.get(id);
  if (object === undefined) throw new Error(`there is no ${id}`);
  return object;
}

function ok(value: unknown): Answer {
  return { status: 200, value };
}

/** The answer for a customer who was deleted, or who belongs to the other mode. */
const NO_SUCH_CUSTOMER: Answer = {
  status: 400,
  value: { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'customer', message: 'No such customer' } },
};

function found(object: StripeObject | undefined): Answer {
  if (object !== undefined) return ok(object);
  return { status: 404, value: { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'no such object' } } };
}

function list(data: readonly unknown[]): StripeObject {
  return { object: 'list', data, has_more: false };
}
