import { asNanos, formatUsd } from '../../ledger/money.ts';
import type { AutoTopUp } from '../../payments/auto-top-up.ts';
import type { PaymentRow } from '../../payments/credit-payment.ts';

/** A payment as its payer sees it. */
export function describePayment(payment: PaymentRow) {
  return {
    id: payment.id,
    status: payment.status,
    provider: payment.provider,
    purpose: payment.purpose,
    amountUsd: formatUsd(asNanos(payment.amount)),
    bonusUsd: formatUsd(asNanos(payment.bonus)),
    reversedUsd: formatUsd(asNanos(payment.reversed)),
    /** Where it can be paid, as long as it can. */
    address: payment.status === 'open' ? payment.address : null,
    /** What is to be written on a bank transfer. */
    reference: payment.provider === 'manual' ? payment.provider_ref : null,
    hasReceipt: payment.status === 'paid' && payment.provider === 'stripe',
    reason: payment.reason,
    createdAtMs: Number(payment.created_at),
  };
}

/** Automatic top-ups as pages get them. */
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
