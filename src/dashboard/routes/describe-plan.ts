import type { Plan } from '../../accounts/plans.ts';
import type { PlanQuote, Subscription } from '../../accounts/subscriptions.ts';
import { formatUsd } from '../../ledger/money.ts';
import { chargeCentsFor, fromCents } from '../../payments/payments.ts';

/** Describes a plan for the browser. */
export function describePlan(plan: Plan) {
  return {
    id: plan.id,
    name: plan.name,
    priceUsd: formatUsd(plan.price),
    interval: plan.interval,
    includedUsd: formatUsd(plan.included),
    requestsPerMinute: plan.requestsPerMinute ?? null,
    tokensPerMinute: plan.tokensPerMinute ?? null,
    concurrent: plan.concurrent ?? null,
    /** Null if all models are included. */
    models: plan.models === undefined ? null : [...plan.models],
    useFirst: plan.useFirst,
    overflow: plan.overflow,
  };
}

/** Describes an account's subscription for the browser. */
export function describeSubscription(subscription: Subscription) {
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

/** Describes a quote for the browser. */
export function describeQuote(quote: Exclude<PlanQuote, { type: 'refused' }>) {
  const chargeUsd = quote.due === 0n ? '0' : formatUsd(fromCents(chargeCentsFor(quote.due)));
  const base = { type: quote.type, atMs: quote.atMs, dueUsd: formatUsd(quote.due), chargeUsd };
  if (quote.type === 'at_period_end') return { ...base, creditUsd: '0', startsAtMs: quote.startsAtMs, endsAtMs: null };
  return { ...base, creditUsd: formatUsd(quote.credit), startsAtMs: quote.atMs, endsAtMs: quote.endsAtMs };
}
