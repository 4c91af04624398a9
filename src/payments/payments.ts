import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { NANOS_PER_CENT, type Nanos } from '../ledger/money.ts';

/** The supported payment providers. */
export type ProviderName = 'stripe' | 'manual';

/** A row of `payments`. */
export type PaymentRow = Selectable<Tables['payments']>;

/** A payment as passed to a driver. It is built from the row alone, so that a retry sends exactly the same request. */
export interface PaymentOrder {
  readonly paymentId: string;
  readonly accountId: string;
  readonly email: string;
  readonly cents: number;
  readonly description: string;
  /** Whether the card may be charged again without the payer. */
  readonly savesCard: boolean;
  /** The saved card to charge; undefined if the payer chooses one. */
  readonly methodRef: string | undefined;
  readonly createdAtMs: number;
  readonly sessionRef: string | undefined;
  readonly providerRef: string | undefined;
  /** Whether the account no longer wants the charge. Then a charge without a response is only looked up, never sent again. */
  readonly isUnwanted?: boolean;
}

/** The provider's facts about a completed payment. They are compared with our row before anything is credited. */
export interface PaidFacts {
  readonly provider: ProviderName;
  readonly paymentId: string;
  readonly accountId: string;
  /** The provider's id of the payment. */
  readonly providerRef: string;
  readonly sessionRef?: string | undefined;
  readonly cents: number;
  readonly currency: string;
}

/** A provider's report on a payment. */
export type DriverAnswer =
  /** The payer must act: at an address, or with a reference. */
  | { readonly type: 'open'; readonly sessionRef?: string; readonly providerRef?: string; readonly address?: string }
  | { readonly type: 'paid'; readonly facts: PaidFacts }
  | { readonly type: 'failed'; readonly reason: string }
  /** It was not made, and nobody refused it. */
  | { readonly type: 'expired'; readonly reason?: string }
  /** No response. The payment may have happened or not, so the provider is asked again. */
  | { readonly type: 'unknown' };

/** The parts of a saved card that may be shown. */
export interface Card {
  readonly methodRef: string;
  readonly brand: string;
  readonly lastFour: string;
  readonly expires: string;
}

/** Cards that can be charged without the payer. */
export interface Cards {
  charge(order: PaymentOrder): Promise<DriverAnswer>;
  list(accountId: string): Promise<readonly Card[]>;
  /** Returns false if the account has no such card. */
  remove(accountId: string, methodRef: string): Promise<boolean>;
}

/** A payment in the provider's own list. */
export interface ProviderPayment {
  readonly providerRef: string;
  /** Our id, if it is one of our payments. */
  readonly paymentId: string | undefined;
  readonly isPaid: boolean;
  readonly cents: number;
  readonly currency: string;
  /** Amount refunded or disputed. */
  readonly reversedCents: number;
  readonly createdAtMs: number;
}

/** A payment provider. Members that only some have are optional: a bank transfer has no cards and no list. */
export interface PaymentDriver {
  readonly name: ProviderName;
  /** Returns the reference of a payment, where it is known in advance. It is written with the payment, so that a crash leaves none without. */
  referenceOf?(paymentId: string): string;
  /** Starts a payment that the payer completes interactively. */
  begin(order: PaymentOrder): Promise<DriverAnswer>;
  /** Returns the state of a payment. */
  poll?(order: PaymentOrder): Promise<DriverAnswer>;
  readonly cards?: Cards;
  /** Returns the address of the payer's receipt. */
  receiptUrl?(providerRef: string): Promise<string | undefined>;
  /** Deletes a customer at the provider. Returns false if that failed. */
  forget?(customerRef: string): Promise<boolean>;
  /** Lists all payments since a moment, in any order. */
  list?(sinceMs: number): AsyncIterable<ProviderPayment>;
}

/** The operator's limits for payments. */
export interface PaymentRules {
  readonly minimum: Nanos;
  readonly maximum: Nanos;
  readonly presets: readonly Nanos[];
  /** How long an unpaid plan continues. */
  readonly graceMs: number;
}

/** Why an amount cannot be topped up. */
export type AmountProblem = 'below_minimum' | 'above_maximum' | 'not_whole_cents';

/** How many charges wait for their provider at the same time: far below what Stripe allows. */
export const CHARGES_AT_ONCE = 5;

/** States of a payment that has not ended. */
export const UNFINISHED = ['created', 'open', 'unknown'] as const;

/** The only currency of payments. */
export const CURRENCY = 'usd';

/** Returns why an amount cannot be topped up, if there is a reason. */
export function findAmountProblem(amount: Nanos, rules: PaymentRules): AmountProblem | undefined {
  if (!isWholeCents(amount)) return 'not_whole_cents';
  if (amount < rules.minimum) return 'below_minimum';
  return amount > rules.maximum ? 'above_maximum' : undefined;
}

/** Returns whether an amount can be paid exactly. */
export function isWholeCents(amount: Nanos): boolean {
  return amount % NANOS_PER_CENT === 0n;
}

/** Stripe's minimum charge. */
const CHARGE_CENTS_MIN = 50;

/** Returns the cents to charge for an amount: rounded up, and at least the provider's minimum. No fee is added. */
export function chargeCentsFor(amount: Nanos): number {
  return Math.max(CHARGE_CENTS_MIN, toCents(amount));
}

/** Converts an amount to cents, rounded up. */
export function toCents(amount: Nanos): number {
  return Number((amount + NANOS_PER_CENT - 1n) / NANOS_PER_CENT);
}

/** Converts cents to the ledger's unit. */
export function fromCents(cents: number | bigint): Nanos {
  return (BigInt(cents) * NANOS_PER_CENT) as Nanos;
}
