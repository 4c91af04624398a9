import type { Plan } from '../../accounts/plans.ts';
import type { PlanQuote, Subscription } from '../../accounts/subscriptions.ts';
import { asNanos, formatUsd, type Nanos } from '../../ledger/money.ts';
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

/** Describes a quote for the browser. A card also pays the account's debt, because incoming money does so first. */
export function describeQuote(quote: Exclude<PlanQuote, { type: 'refused' }>, debt: Nanos) {
  const isLater = quote.type === 'at_period_end';
  const terms = {
    type: quote.type,
    priceUsd: formatUsd(quote.price),
    dueUsd: formatUsd(quote.due),
    creditUsd: isLater ? '0' : formatUsd(quote.credit),
    /** What a card is charged. */
    chargeUsd: quote.due === 0n ? '0' : formatUsd(fromCents(chargeCentsFor(asNanos(quote.due + debt)))),
  };
  return {
    ...terms,
    /** Differs as soon as any of the terms does. */
    id: Object.values(terms).join(' '),
    debtUsd: formatUsd(debt),
    atMs: quote.atMs,
    startsAtMs: isLater ? quote.startsAtMs : quote.atMs,
    endsAtMs: isLater ? null : quote.endsAtMs,
  };
}
