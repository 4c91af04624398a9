import type { Kysely, Transaction } from 'kysely';
import type { Stripe } from 'stripe';
import { differences, recordAudit } from '../accounts/audit.ts';
import { inTransaction } from '../database/in-transaction.ts';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { creditPayment } from './credit-payment.ts';
import { failPayment } from './desk.ts';
import { recordReversal } from './reverse-payment.ts';
import { readEvent, type PaymentNews } from './stripe-events.ts';

/** Receives what the operator should look into. */
export interface WebhookReports {
  /** Called for every event that does not match its payment. */
  onRefused?(eventId: string): void;
  /** Called for events with a wrong signature, at most once an hour, since anybody can send them. */
  onUnverified?(): void;
}

/** Dependencies of the webhook. */
export interface WebhookOptions extends WebhookReports {
  readonly database: Kysely<Tables>;
  readonly stripe: Stripe;
  readonly secret: string;
  readonly clock?: (() => number) | undefined;
}

/** Maximum age of a signed event, to prevent replays. */
const TOLERANCE_SECONDS = 300;
const PROBLEM_CHARS_MAX = 300;

/**
 * Handles `POST /webhooks/stripe`. dashboard.ts has read the body and limited its size. Unsigned events change nothing. Signed events
 * may arrive in any order and more than once.
 */
export function stripeWebhook(options: WebhookOptions): (request: Request) => Promise<Response> {
  if (options.secret.trim() === '') throw new Error('The webhook needs a secret: set STRIPE_WEBHOOK_SECRET.');
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  const report = (): void => {
    if (performance.now() - reportedAtMs < HOUR_MS) return;
    reportedAtMs = performance.now();
    options.onUnverified?.();
  };
  return async (request) => {
    if (request.method !== 'POST') return text(405, 'Send events with POST.');
    const signature = request.headers.get('stripe-signature') ?? '';
    const event = await verify(options, await request.text(), signature);
    if (event === undefined) {
      if (signature !== '') report();
      return text(400, 'The signature is not valid.');
    }
    const outcome = await receive(options, event);
    if (outcome === 'refused') options.onRefused?.(event.id);
    return Response.json({ received: true });
  };
}

async function verify({ stripe, secret, clock }: WebhookOptions, body: string, signature: string): Promise<Stripe.Event | undefined> {
  try {
    return await stripe.webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS, undefined, clock?.());
  } catch {
    // The sender learns nothing about the reason.
    return undefined;
  }
}

/**
 * Applies an event and records it in one transaction: a recorded event was applied, unless its row says that it failed. A failure
 * returns 500, and Stripe sends the event again.
 */
async function receive({ database, clock = Date.now }: WebhookOptions, event: Stripe.Event): Promise<string> {
  const nowMs = clock();
  return inOneTransaction({ database, event, nowMs }, async (transaction) => {
    const isNew = await note(transaction, event, { problem: '', nowMs });
    return isNew ? (await carryOut(transaction, event, nowMs)).outcome : 'repeated';
  });
}

interface EventWork {
  readonly database: Kysely<Tables>;
  readonly event: Stripe.Event;
  readonly nowMs: number;
}

/** Runs work on an event in one transaction. A failure is recorded and rethrown. */
async function inOneTransaction<Result>(
  { database, event, nowMs }: EventWork,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(database, work);
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).slice(0, PROBLEM_CHARS_MAX);
    // If the database is unreachable, the failure cannot be recorded.
    await note(database, event, { problem, nowMs }).catch(() => undefined);
    throw error;
  }
}

/** Records that an event has arrived. Returns false if it was applied before. */
async function note(
  database: Kysely<Tables>,
  event: Stripe.Event,
  { problem, nowMs }: { readonly problem: string; readonly nowMs: number },
): Promise<boolean> {
  const written = await database
    .insertInto('webhook_events')
    .values({ event_id: event.id, provider: 'stripe', type: event.type, outcome: 'received', detail: problem, created_at: nowMs })
    .onConflict((conflict) =>
      conflict
        .column('event_id')
        .doUpdateSet((expression) => ({ tries: expression('webhook_events.tries', '+', 1n), detail: problem }))
        .where('webhook_events.outcome', '=', 'received'),
    )
    .returning('event_id')
    .executeTakeFirst();
  return written !== undefined;
}

async function carryOut(transaction: Kysely<Tables>, event: Stripe.Event, nowMs: number): Promise<Acted> {
  const result = await act(transaction, readEvent(event), nowMs);
  await transaction
    .updateTable('webhook_events')
    .set({ outcome: result.outcome, detail: result.detail, payment_id: result.paymentId ?? null })
    .where('event_id', '=', event.id)
    .execute();
  return result;
}

/** The result of processing an event again; undefined if Stripe no longer has it. */
export type Replay = Acted | { readonly outcome: 'repeated' | 'received'; readonly detail: string } | undefined;

/**
 * Processes a refused or failed event again, as Stripe has it now. A second replay, or one while Stripe resends the event, changes
 * nothing.
 */
export async function replayEvent(
  { database, stripe }: Pick<WebhookOptions, 'database' | 'stripe'>,
  eventId: string,
  actor: string,
): Promise<Replay> {
  const event = await findEvent(stripe, eventId);
  if (event === undefined) return undefined;
  const nowMs = Date.now();
  return inOneTransaction({ database, event, nowMs }, async (transaction) => {
    const known = await transaction
      .updateTable('webhook_events')
      .set((expression) => ({ tries: expression('tries', '+', 1n) }))
      .where('event_id', '=', eventId)
      .where('outcome', 'in', ['received', 'refused'])
      .returning('outcome')
      .executeTakeFirst();
    if (known === undefined) return { outcome: 'repeated', detail: '' } as const;
    const result = await carryOut(transaction, event, nowMs);
    const changes = differences({ outcome: known.outcome }, { outcome: result.outcome, detail: result.detail });
    await recordAudit(transaction, { actor, action: 'event.replay', subject: eventId, changes });
    return result;
  });
}

/** Fetches an event. Returns undefined if it is older than the month for which Stripe keeps events. */
async function findEvent(stripe: Stripe, eventId: string): Promise<Stripe.Event | undefined> {
  try {
    return await stripe.events.retrieve(eventId);
  } catch (error) {
    if ((error as { readonly statusCode?: unknown }).statusCode === 404) return undefined;
    throw error;
  }
}

interface Acted {
  readonly outcome: 'applied' | 'ignored' | 'refused';
  readonly detail: string;
  readonly paymentId?: string | undefined;
}

async function act(transaction: Kysely<Tables>, news: PaymentNews, nowMs: number): Promise<Acted> {
  switch (news.type) {
    case 'ignored':
      return { outcome: 'ignored', detail: news.reason };
    case 'failed':
      await failPayment(transaction, news.paymentId, news);
      return { outcome: 'applied', detail: news.reason, paymentId: news.paymentId };
    case 'reversal': {
      const paymentId = await recordReversal(transaction, news.reversal, nowMs);
      return { outcome: 'applied', detail: `${news.reversal.kind} ${news.reversal.state}`, paymentId };
    }
    case 'paid': {
      const { paymentId } = news.facts;
      const result = await creditPayment(transaction, news.facts, nowMs);
      if (result.type === 'refused') return { outcome: 'refused', detail: result.reason, paymentId };
      return { outcome: 'applied', detail: result.type, paymentId };
    }
  }
}

function text(status: number, message: string): Response {
  return new Response(`${message}\n`, { status });
}
