import type { RecordedEntry } from '../accounts/audit.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';
import type { PaymentRow } from '../payments/credit-payment.ts';
import type { ListedPayment, PaymentEvent, PaymentList } from '../payments/payment-list.ts';
import { fromCents } from '../payments/payments.ts';

/** A payment as operators see it. */
export interface ListedPaymentJson {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly way: 'card' | 'automatic' | 'transfer';
  readonly purpose: PaymentRow['purpose'];
  readonly status: PaymentRow['status'];
  readonly amountUsd: string;
  readonly bonusUsd: string;
  readonly reversedUsd: string;
  readonly reference: string | null;
  readonly hasReceipt: boolean;
  readonly reason: string;
  readonly createdAtMs: number;
}

/** An event of a provider. */
export interface EventJson {
  readonly id: string;
  readonly type: string;
  readonly outcome: PaymentEvent['outcome'];
  readonly detail: string;
  readonly tries: number;
  readonly paymentId: string | null;
  /** Whether working on it once more can change anything. */
  readonly canReplay: boolean;
  readonly createdAtMs: number;
}

/** One moment of a payment's life. */
export interface MomentJson {
  readonly atMs: number;
  readonly kind: 'begun' | 'paid' | 'refund' | 'dispute' | 'event' | 'operator';
  readonly text: string;
  readonly event: EventJson | null;
}

/** A payment as the browser of an operator gets it. */
export function describeListed(payment: ListedPayment): ListedPaymentJson {
  return {
    id: payment.id,
    accountId: payment.account_id,
    email: payment.email ?? '',
    way: payment.provider === 'manual' ? 'transfer' : payment.method_ref === null ? 'card' : 'automatic',
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

/** An event as the browser of an operator gets it. */
export function describeEvent(event: PaymentEvent): EventJson {
  return {
    id: event.event_id,
    type: event.type,
    outcome: event.outcome,
    detail: event.detail,
    tries: Number(event.tries),
    paymentId: event.payment_id,
    // What Stripe said when it was asked is no event that it has: the payment is asked for again.
    canReplay: event.type !== 'answer' && (event.outcome === 'received' || event.outcome === 'refused'),
    createdAtMs: Number(event.created_at),
  };
}

/** Everything that happened to a payment, in the order of time. */
export function describeLife(
  payment: PaymentRow,
  { events, reversals, entries }: Awaited<ReturnType<PaymentList['readLife']>>,
): MomentJson[] {
  const moments: MomentJson[] = [
    { atMs: Number(payment.created_at), kind: 'begun', text: '', event: null },
    ...events.map((event) => ({ atMs: Number(event.created_at), kind: 'event' as const, text: event.detail, event: describeEvent(event) })),
    ...reversals.map(({ created_at: at, kind, cents, state, id }) => ({
      atMs: Number(at),
      kind,
      text: `$${formatUsd(fromCents(cents))}, ${state} (${id})`,
      event: null,
    })),
    ...entries.map((entry) => ({ atMs: entry.createdAtMs, kind: 'operator' as const, text: describeEntry(entry), event: null })),
  ];
  if (payment.paid_at !== null) moments.push({ atMs: Number(payment.paid_at), kind: 'paid', text: '', event: null });
  return moments.toSorted((first, second) => first.atMs - second.atMs);
}

function describeEntry({ actor, action, changes }: RecordedEntry): string {
  return `${actor}: ${action}${changes.map(({ field, after }) => `, ${field} ${String(after)}`).join('')}`;
}
