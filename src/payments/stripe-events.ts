import type { Stripe } from 'stripe';
import type { PaidFacts } from './payments.ts';
import type { Reversal } from './reverse-payment.ts';
import { idOf, isDisputeLifted, isInquiry, PAYMENT_KEY, readPaid, readReason, SAVED_CARD_KEY } from './stripe.ts';

/** The meaning of a Stripe event. */
export type PaymentNews =
  | { readonly type: 'paid'; readonly facts: PaidFacts }
  | { readonly type: 'failed'; readonly paymentId: string; readonly status: 'failed' | 'expired'; readonly reason: string }
  | { readonly type: 'reversal'; readonly reversal: Reversal }
  /** Not about our payments, or without effect. */
  | { readonly type: 'ignored'; readonly reason: string };

/**
 * Reads an event whose signature was verified. The object in the event counts more than the event's name. A pure function: webhook.ts
 * applies the result.
 */
export function readEvent({ type, created, data: { object } }: Stripe.Event): PaymentNews {
  if (!('object' in object)) return ignored('it has no object');
  if (object.object === 'checkout.session') return readSession(object, type);
  if (object.object === 'payment_intent') return readIntent(object, type);
  if (object.object === 'refund') return readRefund(object, created * 1000);
  if (object.object === 'dispute') return readDispute(object, created * 1000);
  return ignored('events of this type say nothing about money here');
}

function readSession(session: Stripe.Checkout.Session, type: string): PaymentNews {
  if (session.payment_status === 'paid') return paid(session);
  if (session.status === 'expired') return failed(session.metadata, 'expired', '');
  if (type === 'checkout.session.async_payment_failed') return failed(session.metadata, 'failed', 'the payment did not go through');
  // With a slow payment, such as a bank debit, the session completes before it is paid.
  return ignored('the session is not paid yet');
}

function readIntent(intent: Stripe.PaymentIntent, type: string): PaymentNews {
  if (intent.status === 'succeeded') return paid(intent);
  return type === 'payment_intent.payment_failed' ? readIntentFailed(intent) : ignored('the intent is not paid yet');
}

function paid(object: Stripe.Checkout.Session | Stripe.PaymentIntent): PaymentNews {
  const facts = readPaid(object);
  return facts === undefined ? ignored('it is not a payment of this service') : { type: 'paid', facts };
}

/** Reads a failed intent. On a payment page the payer can try another card; a declined saved card is final. */
function readIntentFailed(intent: Stripe.PaymentIntent): PaymentNews {
  if (intent.metadata[SAVED_CARD_KEY] === undefined) return ignored('the payer may try again');
  const error = intent.last_payment_error;
  return failed(intent.metadata, 'failed', readReason(error?.decline_code ?? error?.code ?? ''));
}

function failed(metadata: Stripe.Metadata | null, status: 'failed' | 'expired', reason: string): PaymentNews {
  const paymentId = metadata?.[PAYMENT_KEY];
  return paymentId === undefined ? ignored('it is not a payment of this service') : { type: 'failed', paymentId, status, reason };
}

function readRefund({ id, payment_intent, amount, status }: Stripe.Refund, atMs: number): PaymentNews {
  const providerRef = idOf(payment_intent);
  if (providerRef === undefined || amount <= 0) return ignored('the refund is not of a payment intent');
  const state = status === 'failed' || status === 'canceled' ? 'lifted' : 'standing';
  return { type: 'reversal', reversal: { id, providerRef, kind: 'refund', cents: amount, state, atMs } };
}

function readDispute(dispute: Stripe.Dispute, atMs: number): PaymentNews {
  const providerRef = idOf(dispute.payment_intent);
  if (providerRef === undefined || dispute.amount <= 0) return ignored('the dispute is not of a payment intent');
  if (isInquiry(dispute)) return ignored('an inquiry takes no money');
  const state = isDisputeLifted(dispute) ? 'lifted' : 'standing';
  return { type: 'reversal', reversal: { id: dispute.id, providerRef, kind: 'dispute', cents: dispute.amount, state, atMs } };
}

function ignored(reason: string): PaymentNews {
  return { type: 'ignored', reason };
}
