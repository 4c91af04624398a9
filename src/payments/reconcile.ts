import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { CURRENCY, fromCents, type PaymentDriver, type PaymentRow, type ProviderPayment } from './payments.ts';

/** A difference between the provider's list and the ledger. */
export interface PaymentDifference {
  readonly kind: 'charged_not_credited' | 'credited_not_charged' | 'amount_differs' | 'reversal_differs' | 'not_known_here';
  readonly paymentId: string | undefined;
  readonly providerRef: string;
  /** Describes the difference and what to do about it. */
  readonly explanation: string;
}

/** The result of a comparison. */
export interface Reconciliation {
  readonly compared: number;
  /** Number of payments in the provider's list that this service did not make. */
  readonly foreign: number;
  readonly differences: readonly PaymentDifference[];
  /**
   * Whether a bound stopped the comparison. Then payments found only in the ledger are not reported: the rest of the list may have them.
   */
  readonly isCutShort: boolean;
}

/** Bounds for a comparison that somebody waits for. */
export interface ReconcileBound {
  readonly paymentsMax: number;
  readonly untilMs: number;
}

const UNBOUNDED: ReconcileBound = { paymentsMax: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/** Compares the provider's payments since a moment with the ledger, in both directions. */
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
    // A payer who tries several cards leaves several intents. Only the paid one counts.
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
  const ids = { paymentId: theirs.paymentId, providerRef: theirs.providerRef };
  if (ours === undefined)
    return theirs.isPaid
      ? {
          ...ids,
          kind: 'not_known_here',
          explanation: 'It was paid, but is not in this database. Does another installation use the same Stripe account?',
        }
      : undefined;
  if (!theirs.isPaid) return ours.status === 'paid' && ours.provider_ref === theirs.providerRef ? notCharged(ours) : undefined;
  if (theirs.currency !== CURRENCY || theirs.cents !== Number(ours.charge_cents))
    return {
      ...ids,
      kind: 'amount_differs',
      explanation: `${theirs.cents} cents (${theirs.currency}) were paid, ${ours.charge_cents} cents (${CURRENCY}) were requested. Nothing was credited; refund it, or credit it manually.`,
    };
  if (ours.status !== 'paid')
    return {
      ...ids,
      kind: 'charged_not_credited',
      explanation: `It is ${ours.status} here. The webhook event has not arrived: check whether Stripe can reach the webhook, and credit the payment now with: payments ask ${ours.id}`,
    };
  const reversed = (ours.amount * BigInt(theirs.reversedCents)) / ours.charge_cents;
  if (reversed !== ours.reversed)
    return {
      ...ids,
      kind: 'reversal_differs',
      explanation: `${theirs.reversedCents} cents were refunded or are disputed, ${ours.reversed / fromCents(1)} cents were taken back here. Have Stripe send the refund's events again.`,
    };
  return undefined;
}

function notCharged(row: PaymentRow): PaymentDifference {
  return {
    kind: 'credited_not_charged',
    paymentId: row.id,
    providerRef: row.provider_ref ?? '',
    explanation:
      'It is credited here, but the provider does not list it as paid. Check it in the provider’s dashboard, and take the credit back manually if needed.',
  };
}
