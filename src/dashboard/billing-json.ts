import { asNanos, formatUsd } from '../ledger/money.ts';
import type { AutoTopUp } from '../payments/auto-top-up.ts';
import type { PaymentRow } from '../payments/credit-payment.ts';

/** The balance, what it is made of in the order of use, and how money can be added. */
export interface BillingJson {
  readonly balanceUsd: string;
  readonly heldUsd: string;
  readonly availableUsd: string;
  /** True as soon as there was any credit, though nothing of it may be left. */
  readonly hasHadCredit: boolean;
  readonly sources: SourceJson[];
  /** How the account uses the credit of its plan: before the rest, after it, or alone. Null without a plan. */
  readonly planUse: 'plan' | 'balance' | 'stop' | null;
  readonly bonuses: BonusJson[];
  readonly hasCards: boolean;
  /** What somebody who pays by bank transfer is told; null where that is not offered. */
  readonly bankTransfer: string | null;
  readonly minimumUsd: string;
  readonly maximumUsd: string;
  readonly presetsUsd: string[];
}

/** Credit that is left. */
export interface SourceJson {
  readonly id: string;
  /** Its place in the order of use; null where the plan keeps it from being used. */
  readonly order: number | null;
  readonly kind: 'paid' | 'plan' | 'promo' | 'manual';
  readonly amountUsd: string;
  readonly leftUsd: string;
  readonly expiresAtMs: number | null;
  readonly createdAtMs: number;
}

/** A bonus that waits for a top-up. */
export interface BonusJson {
  readonly percent: number;
  readonly maxUsd: string;
  readonly minimumUsd: string;
}

/** A payment. */
export interface PaymentJson {
  readonly id: string;
  readonly status: PaymentRow['status'];
  readonly provider: string;
  readonly purpose: PaymentRow['purpose'];
  readonly amountUsd: string;
  readonly bonusUsd: string;
  readonly reversedUsd: string;
  /** Where it can be paid, as long as it can. */
  readonly address: string | null;
  /** What is to be written on a bank transfer. */
  readonly reference: string | null;
  readonly hasReceipt: boolean;
  readonly reason: string;
  readonly createdAtMs: number;
}

/** Automatic top-ups. */
export interface AutoTopUpJson {
  readonly isOn: boolean;
  readonly thresholdUsd: string;
  readonly amountUsd: string;
  readonly monthlyCapUsd: string;
  readonly methodRef: string;
  readonly reason: string;
  readonly chargedThisMonthUsd: string;
}

/** A payment as the browser gets it. */
export function describePayment(payment: PaymentRow): PaymentJson {
  return {
    id: payment.id,
    status: payment.status,
    provider: payment.provider,
    purpose: payment.purpose,
    amountUsd: formatUsd(asNanos(payment.amount)),
    bonusUsd: formatUsd(asNanos(payment.bonus)),
    reversedUsd: formatUsd(asNanos(payment.reversed)),
    address: payment.status === 'open' ? payment.address : null,
    reference: payment.provider === 'manual' ? payment.provider_ref : null,
    hasReceipt: payment.status === 'paid' && payment.provider === 'stripe',
    reason: payment.reason,
    createdAtMs: Number(payment.created_at),
  };
}

/** Automatic top-ups as the browser gets them. */
export function describeAutoTopUp({ isOn, threshold, amount, monthlyCap, methodRef, reason, chargedThisMonth }: AutoTopUp): AutoTopUpJson {
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
