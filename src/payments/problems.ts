import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';

/** A problem with a payment that needs the operator's attention. */
export interface PaymentProblem {
  readonly kind: 'refused_event' | 'failed_event' | 'no_answer' | 'disputed' | 'not_what_it_was_for';
  readonly at: number;
  readonly paymentId: string | undefined;
  readonly explanation: string;
}

const NO_ANSWER_MS = HOUR_MS;

/** Returns the problems that do not resolve themselves, newest first. */
export async function listProblems(database: Kysely<Tables>, nowMs: number, rowsMax: number): Promise<PaymentProblem[]> {
  const problems = [
    ...(await listEvents(database, 'refused', rowsMax)),
    ...(await listEvents(database, 'received', rowsMax)),
    ...(await listSilent(database, 'created', { nowMs, rowsMax })),
    ...(await listSilent(database, 'unknown', { nowMs, rowsMax })),
    ...(await listDisputed(database, rowsMax)),
    ...(await listMisspent(database, rowsMax)),
  ];
  return problems.toSorted((first, second) => second.at - first.at).slice(0, rowsMax);
}

/** Queries one state at a time: for several at once the databases would scan all rows in time order. */
async function listEvents(database: Kysely<Tables>, outcome: 'refused' | 'received', rowsMax: number): Promise<PaymentProblem[]> {
  const rows = await database
    .selectFrom('webhook_events')
    .selectAll()
    .where('outcome', '=', outcome)
    .orderBy('created_at', 'desc')
    .limit(rowsMax)
    .execute();
  return rows.map(({ event_id: id, type, created_at: at, payment_id: paymentId, detail }) => ({
    kind: outcome === 'refused' ? 'refused_event' : 'failed_event',
    at: Number(at),
    paymentId: paymentId ?? undefined,
    explanation: `${id} (${type}) ${outcome === 'refused' ? 'was not credited' : 'could not be processed'}: ${detail}`,
  }));
}

async function listSilent(
  database: Kysely<Tables>,
  status: 'created' | 'unknown',
  { nowMs, rowsMax }: { readonly nowMs: number; readonly rowsMax: number },
): Promise<PaymentProblem[]> {
  const rows = await database
    .selectFrom('payments')
    .select(['id', 'created_at', 'provider'])
    .where('status', '=', status)
    .where('created_at', '<', BigInt(nowMs - NO_ANSWER_MS))
    .orderBy('created_at', 'desc')
    .limit(rowsMax)
    .execute();
  return rows.map((row) => ({
    kind: 'no_answer',
    at: Number(row.created_at),
    paymentId: row.id,
    explanation: `${row.provider} has not responded for more than an hour; Tollgate keeps asking`,
  }));
}

async function listDisputed(database: Kysely<Tables>, rowsMax: number): Promise<PaymentProblem[]> {
  const rows = await database
    .selectFrom('payment_reversals')
    .innerJoin('payments', 'payments.provider_ref', 'payment_reversals.provider_ref')
    .select(['payment_reversals.id', 'payment_reversals.created_at', 'payments.id as payment_id'])
    .where('payment_reversals.kind', '=', sql.lit('dispute'))
    .where('payment_reversals.state', '=', sql.lit('standing'))
    .orderBy('payment_reversals.created_at', 'desc')
    .limit(rowsMax)
    .execute();
  return rows.map((row) => ({
    kind: 'disputed',
    at: Number(row.created_at),
    paymentId: row.payment_id,
    explanation: `the payer disputes it (${row.id}); the credit is taken back until the dispute is won`,
  }));
}

async function listMisspent(database: Kysely<Tables>, rowsMax: number): Promise<PaymentProblem[]> {
  const rows = await database
    .selectFrom('payments')
    .select(['id', 'paid_at', 'reason'])
    // Literals match the partial index for these rows; the databases would not use it with parameters.
    .where('status', '=', sql.lit('paid'))
    .where('reason', '<>', sql.lit(''))
    // A fully refunded payment needs no attention.
    .where((where) => where('reversed', '<', where.ref('amount')))
    .orderBy('paid_at', 'desc')
    .limit(rowsMax)
    .execute();
  return rows.map((row) => ({ kind: 'not_what_it_was_for', at: Number(row.paid_at ?? 0n), paymentId: row.id, explanation: row.reason }));
}
