import { asNanos, formatUsd } from '../../../ledger/money.ts';
import type { ListedPayment, PaymentEvent, PaymentList } from '../../../payments/payment-list.ts';
import { fromCents, type PaymentRow } from '../../../payments/payments.ts';
import { describeEntry } from './audit.ts';

/** Describes a payment for operators. */
export function describeListedPayment(payment: ListedPayment) {
  return {
    id: payment.id,
    accountId: payment.account_id,
    email: payment.email ?? '',
    way: wayOf(payment),
    purpose: payment.purpose,
    status: payment.status,
    amountUsd: formatUsd(asNanos(payment.amount)),
    bonusUsd: formatUsd(asNanos(payment.bonus)),
    reversedUsd: formatUsd(asNanos(payment.reversed)),
    reference: payment.provider_ref ?? payment.session_ref,
    hasReceipt: payment.status === 'paid' && payment.provider === 'stripe',
    reason: payment.reason,
    createdAtMs: Number(payment.created_at),
  };
}

function wayOf({ provider, method_ref: methodRef }: ListedPayment): 'card' | 'automatic' | 'transfer' {
  if (provider === 'manual') return 'transfer';
  return methodRef === null ? 'card' : 'automatic';
}

/** Describes a provider's event. */
export function describeEvent(event: PaymentEvent) {
  return {
    id: event.event_id,
    type: event.type,
    outcome: event.outcome,
    detail: event.detail,
    tries: Number(event.tries),
    paymentId: event.payment_id,
    // Whether processing it again can change anything. Stripe's answer to a question is not one of its events: ask about the payment again
    // instead.
    canReplay: event.type !== 'answer' && (event.outcome === 'received' || event.outcome === 'refused'),
    createdAtMs: Number(event.created_at),
  };
}

/** One step in the history of a payment. */
interface Moment {
  readonly atMs: number;
  readonly kind: 'begun' | 'paid' | 'refund' | 'dispute' | 'event' | 'operator';
  readonly text: string;
  readonly event: ReturnType<typeof describeEvent> | null;
  /** What an operator did. */
  readonly entry: Pick<ReturnType<typeof describeEntry>, 'actor' | 'action' | 'changes'> | null;
}

/** Describes everything that happened to a payment, in chronological order. */
export function describeLife(payment: PaymentRow, { events, reversals, entries }: Awaited<ReturnType<PaymentList['readLife']>>): Moment[] {
  const moments: Moment[] = [
    { atMs: Number(payment.created_at), kind: 'begun', text: '', event: null, entry: null },
    ...events.map((event) => ({
      atMs: Number(event.created_at),
      kind: 'event' as const,
      text: event.detail,
      event: describeEvent(event),
      entry: null,
    })),
    ...reversals.map(({ created_at: at, kind, cents, state, id }) => ({
      atMs: Number(at),
      kind,
      text: `$${formatUsd(fromCents(cents))}, ${state} (${id})`,
      event: null,
      entry: null,
    })),
    ...entries.map((entry) => ({ atMs: entry.createdAtMs, kind: 'operator' as const, text: '', event: null, entry: describeEntry(entry) })),
  ];
  if (payment.paid_at !== null) moments.push({ atMs: Number(payment.paid_at), kind: 'paid', text: '', event: null, entry: null });
  return moments.toSorted((first, second) => first.atMs - second.atMs);
}
