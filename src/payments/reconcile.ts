import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { PaymentRow } from './credit-payment.ts';
import { CURRENCY, fromCents, type PaymentDriver, type ProviderPayment } from './payments.ts';

/** One thing on which the provider and the ledger do not agree. */
export interface PaymentDifference {
  readonly kind: 'charged_not_credited' | 'credited_not_charged' | 'amount_differs' | 'reversal_differs' | 'not_known_here';
  readonly paymentId: string | undefined;
  readonly providerRef: string;
  /** What it is and what to do about it. */
  readonly explanation: string;
}

/** What a comparison found. */
export interface Reconciliation {
  readonly compared: number;
  /** Payments in the provider's list that are not this service's. */
  readonly foreign: number;
  readonly differences: readonly PaymentDifference[];
  /** Whether there was more than was to be compared. What is only in the ledger is not told then: the rest may have it. */
  readonly isCutShort: boolean;
}

/** How much is compared where somebody waits for it. */
export interface ReconcileBound {
  readonly paymentsMax: number;
  readonly untilMs: number;
}

const UNBOUNDED: ReconcileBound = { paymentsMax: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/** Compares everything that the provider says was paid since with what the ledger has credited, both ways. */
export async function reconcilePayments(
  database: Kysely<Tables>,
  driver: PaymentDriver,
  sinceMs: number,
  { paymentsMax, untilMs }: ReconcileBound = UNBOUNDED,
): Promise<Reconciliation> {
  if (driver.list === undefined) throw new Error(`${driver.name} has no list to compare with.`);
  const query = database
    .selectFrom('payments')
    .selectAll()
    .where('provider', '=', driver.name)
    .where('created_at', '>=', BigInt(sinceMs))
    .orderBy('created_at', 'desc');
  const rows = await (Number.isFinite(paymentsMax) ? query.limit(paymentsMax) : query).execute();
  const unseen = new Map(rows.map((row) => [row.id, row]));
  const differences: PaymentDifference[] = [];
  let compared = 0;
  let foreign = 0;
  let isCutShort = rows.length >= paymentsMax;
  for await (const theirs of driver.list(sinceMs)) {
    if (compared + foreign >= paymentsMax || Date.now() > untilMs) {
      isCutShort = true;
      break;
    }
    if (theirs.paymentId === undefined) {
      foreign += 1;
      continue;
    }
    compared += 1;
    const ours = unseen.get(theirs.paymentId) ?? (await findPayment(database, theirs.paymentId));
    // A payer who tries several cards leaves several intents; the one that paid is the one to compare with.
    if (ours?.provider_ref === null || ours?.provider_ref === theirs.providerRef || theirs.isPaid) unseen.delete(theirs.paymentId);
    const difference = compare(theirs, ours);
    if (difference !== undefined) differences.push(difference);
  }
  const onlyOurs = isCutShort ? [] : [...unseen.values()].filter(({ status }) => status === 'paid');
  return { compared, foreign, differences: [...differences, ...onlyOurs.map(notCharged)], isCutShort };
}

async function findPayment(database: Kysely<Tables>, id: string): Promise<PaymentRow | undefined> {
  return database.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}

function compare(theirs: ProviderPayment, ours: PaymentRow | undefined): PaymentDifference | undefined {
  const told = { paymentId: theirs.paymentId, providerRef: theirs.providerRef };
  if (ours === undefined)
    return theirs.isPaid
      ? {
          ...told,
          kind: 'not_known_here',
          explanation: 'It was paid for a payment that is not in this database. Does another installation use the same Stripe account?',
        }
      : undefined;
  if (!theirs.isPaid) return ours.status === 'paid' && ours.provider_ref === theirs.providerRef ? notCharged(ours) : undefined;
  if (theirs.currency !== CURRENCY || theirs.cents !== Number(ours.charge_cents))
    return {
      ...told,
      kind: 'amount_differs',
      explanation: `${theirs.cents} cents (${theirs.currency}) were paid, ${ours.charge_cents} cents (${CURRENCY}) were asked for. Nothing is credited; refund it, or credit it by hand.`,
    };
  if (ours.status !== 'paid')
    return {
      ...told,
      kind: 'charged_not_credited',
      explanation: `It is ${ours.status} here. The webhook has not arrived: see whether Stripe reaches it, and credit the payment now with: payments ask ${ours.id}`,
    };
  const reversed = (ours.amount * BigInt(theirs.reversedCents)) / ours.charge_cents;
  if (reversed !== ours.reversed)
    return {
      ...told,
      kind: 'reversal_differs',
      explanation: `${theirs.reversedCents} cents were refunded or are disputed, ${ours.reversed / fromCents(1)} cents were taken back here. Let Stripe send the refund's events again.`,
    };
  return undefined;
}

function notCharged(row: PaymentRow): PaymentDifference {
  return {
    kind: 'credited_not_charged',
    paymentId: row.id,
    providerRef: row.provider_ref ?? '',
    explanation:
      'It is credited here, and the provider does not have it as paid. Look at it in the provider’s dashboard; take the credit back by hand if need be.',
  };
}
