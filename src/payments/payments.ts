import type { Nanos } from '../ledger/money.ts';

/** The ways to pay that the program knows. */
export type ProviderName = 'stripe' | 'manual';

/** What a driver is told about a payment. It is built from the row alone, so that asking again asks for the very same. */
export interface PaymentOrder {
  readonly paymentId: string;
  readonly accountId: string;
  readonly email: string;
  readonly cents: number;
  readonly description: string;
  /** Whether the card may be charged again without the payer. */
  readonly savesCard: boolean;
  /** The saved card that is to be charged; undefined where the payer is there to choose. */
  readonly methodRef: string | undefined;
  readonly createdAtMs: number;
  readonly sessionRef: string | undefined;
  readonly providerRef: string | undefined;
  /** Whether the account wants it no more: a charge of which nothing was heard is then looked for, and not asked for again. */
  readonly isUnwanted?: boolean;
}

/** That a payment was made: compared with our own row before anything is credited. */
export interface PaidFacts {
  readonly provider: ProviderName;
  readonly paymentId: string;
  readonly accountId: string;
  /** The provider's own name of the payment. */
  readonly providerRef: string;
  readonly sessionRef?: string | undefined;
  readonly cents: number;
  readonly currency: string;
}

/** What a provider says about a payment. */
export type DriverAnswer =
  /** It is the payer's turn: at an address, or with a reference. */
  | { readonly type: 'open'; readonly sessionRef?: string; readonly providerRef?: string; readonly address?: string }
  | { readonly type: 'paid'; readonly facts: PaidFacts }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'expired' }
  /** No answer. It may have happened or not: it is asked again, never guessed. */
  | { readonly type: 'unknown' };

/** A card that was saved, as far as it may be shown. */
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
  /** False when the account has no such card. */
  remove(accountId: string, methodRef: string): Promise<boolean>;
}

/** A payment as the provider's own list has it. */
export interface ProviderPayment {
  readonly providerRef: string;
  /** Our id, where it is one of ours. */
  readonly paymentId: string | undefined;
  readonly isPaid: boolean;
  readonly cents: number;
  readonly currency: string;
  /** What was refunded or is disputed. */
  readonly reversedCents: number;
  readonly createdAtMs: number;
}

/** A way to pay. What only some ways have is optional: a bank transfer has no card and no list. */
export interface PaymentDriver {
  readonly name: ProviderName;
  /** Begins a payment for a payer who is there. */
  begin(order: PaymentOrder): Promise<DriverAnswer>;
  /** How a payment stands; only where somebody can be asked. */
  ask?(order: PaymentOrder): Promise<DriverAnswer>;
  readonly cards?: Cards;
  /** Where the payer finds the receipt. */
  receiptUrl?(providerRef: string): Promise<string | undefined>;
  /** Deletes what the provider keeps of a customer; false when it could not be done. */
  forget?(customerRef: string): Promise<boolean>;
  /** Everything that was paid since, oldest or newest first. */
  list?(sinceMs: number): AsyncIterable<ProviderPayment>;
}

/** What the operator allows. */
export interface PaymentRules {
  readonly minimum: Nanos;
  readonly maximum: Nanos;
  readonly presets: readonly Nanos[];
  /** How long a plan goes on that could not be paid. */
  readonly graceMs: number;
}

/** Whether this much can be topped up. */
export type AmountProblem = 'below_minimum' | 'above_maximum' | 'not_whole_cents';

export const CURRENCY = 'usd';
const NANOS_PER_CENT = 10_000_000n;

/** What stands against an amount, if anything does. */
export function findAmountProblem(amount: Nanos, rules: PaymentRules): AmountProblem | undefined {
  if (amount % NANOS_PER_CENT !== 0n) return 'not_whole_cents';
  if (amount < rules.minimum) return 'below_minimum';
  return amount > rules.maximum ? 'above_maximum' : undefined;
}

/** Stripe charges no less. */
const CHARGE_CENTS_MIN = 50;

/** What a payer is charged for an amount: whole cents, rounded up, and no less than the provider takes. No fee is added. */
export function chargeCentsFor(amount: Nanos): number {
  return Math.max(CHARGE_CENTS_MIN, toCents(amount));
}

/** An amount in cents, rounded up. */
export function toCents(amount: Nanos): number {
  return Number((amount + NANOS_PER_CENT - 1n) / NANOS_PER_CENT);
}

/** Cents as money of the ledger. */
export function fromCents(cents: number | bigint): Nanos {
  return (BigInt(cents) * NANOS_PER_CENT) as Nanos;
}
