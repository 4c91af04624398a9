import type { Plan } from '../accounts/plans.ts';
import type { PlanQuote, Subscription } from '../accounts/subscriptions.ts';
import { formatUsd } from '../ledger/money.ts';
import { chargeCentsFor, fromCents } from '../payments/payments.ts';

/** A plan. */
export interface PlanJson {
  readonly id: string;
  readonly name: string;
  readonly priceUsd: string;
  readonly interval: 'month' | 'year';
  readonly includedUsd: string;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
  /** Null for all. */
  readonly models: string[] | null;
  readonly useFirst: 'plan' | 'balance';
  readonly overflow: 'balance' | 'stop';
}

/** What is offered, what the account has, and what it could pay from its balance. */
export interface PlansJson {
  readonly plans: PlanJson[];
  readonly subscription: SubscriptionJson | null;
  readonly payableUsd: string;
  readonly hasCards: boolean;
}

/** An account's plan. */
export interface SubscriptionJson {
  readonly plan: PlanJson;
  readonly status: 'active' | 'past_due';
  readonly payBy: 'balance' | 'card' | 'nobody';
  readonly methodRef: string | null;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly periodsLeft: number | null;
  readonly endsWithPeriod: boolean;
  readonly useFirst: 'plan' | 'balance';
  readonly nextPlan: PlanJson | null;
  readonly graceUntilMs: number | null;
  readonly reason: string;
  readonly includedGivenUsd: string;
  readonly includedLeftUsd: string;
}

/** What a plan costs at a moment. */
export interface QuoteJson {
  readonly type: 'subscribe' | 'upgrade' | 'at_period_end';
  readonly atMs: number;
  readonly dueUsd: string;
  /** What a card is charged for it: whole cents. */
  readonly chargeUsd: string;
  readonly creditUsd: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number | null;
}

/** What became of an order: it is done, or there is an address to pay at. */
export interface TakenJson {
  readonly done: boolean;
  readonly address: string | null;
  readonly paymentId: string | null;
}

/** A plan as the browser gets it. */
export function describePlan(plan: Plan): PlanJson {
  return {
    id: plan.id,
    name: plan.name,
    priceUsd: formatUsd(plan.price),
    interval: plan.interval,
    includedUsd: formatUsd(plan.included),
    requestsPerMinute: plan.requestsPerMinute ?? null,
    tokensPerMinute: plan.tokensPerMinute ?? null,
    concurrent: plan.concurrent ?? null,
    models: plan.models === undefined ? null : [...plan.models],
    useFirst: plan.useFirst,
    overflow: plan.overflow,
  };
}

/** An account's plan as the browser gets it. */
export function describeSubscription(subscription: Subscription): SubscriptionJson {
  return {
    plan: describePlan(subscription.plan),
    status: subscription.status,
    payBy: subscription.paysBy,
    methodRef: subscription.methodRef ?? null,
    periodStartMs: subscription.periodStartMs,
    periodEndMs: subscription.periodEndMs,
    periodsLeft: subscription.periodsLeft ?? null,
    endsWithPeriod: subscription.endsWithPeriod,
    useFirst: subscription.useFirst,
    nextPlan: subscription.nextPlan === undefined ? null : describePlan(subscription.nextPlan),
    graceUntilMs: subscription.graceUntilMs ?? null,
    reason: subscription.reason,
    includedGivenUsd: formatUsd(subscription.includedGiven),
    includedLeftUsd: formatUsd(subscription.includedLeft),
  };
}

/** A price as the browser gets it. */
export function describeQuote(quote: Exclude<PlanQuote, { type: 'refused' }>): QuoteJson {
  const chargeUsd = quote.due === 0n ? '0' : formatUsd(fromCents(chargeCentsFor(quote.due)));
  const base = { type: quote.type, atMs: quote.atMs, dueUsd: formatUsd(quote.due), chargeUsd };
  if (quote.type === 'at_period_end') return { ...base, creditUsd: '0', startsAtMs: quote.startsAtMs, endsAtMs: null };
  return { ...base, creditUsd: formatUsd(quote.credit), startsAtMs: quote.atMs, endsAtMs: quote.endsAtMs };
}
