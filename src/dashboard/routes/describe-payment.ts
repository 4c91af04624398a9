import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { AutoTopUp } from '../../payments/auto-top-up.ts';
import type { PaymentRow } from '../../payments/payments.ts';

/** Describes a payment for its payer. */
export function describePayment(payment: PaymentRow) {
  return {
    id: payment.id,
    status: payment.status,
    provider: payment.provider,
    purpose: payment.purpose,
    amountUsd: formatUsd(asNanos(payment.amount)),
    bonusUsd: formatUsd(asNanos(payment.bonus)),
    reversedUsd: formatUsd(asNanos(payment.reversed)),
    /** The payment page, while the payment is open. */
    address: payment.status === 'open' ? payment.address : null,
    /** The reference to write on a bank transfer. */
    reference: payment.provider === 'manual' ? payment.provider_ref : null,
    hasReceipt: payment.status === 'paid' && payment.provider === 'stripe',
    reason: payment.reason,
    createdAtMs: Number(payment.created_at),
  };
}

/** Describes automatic top-ups for the browser. */
export function describeAutoTopUp({ isOn, threshold, amount, monthlyCap, methodRef, reason, chargedThisMonth }: AutoTopUp) {
  return {
    isOn,
    thresholdUsd: formatUsd(threshold),
    amountUsd: formatUsd(amount),
    monthlyCapUsd: formatUsd(monthlyCap),
    methodRef,
    reason,
    chargedThisMonthUsd: formatUsd(chargedThisMonth),
  };
}
