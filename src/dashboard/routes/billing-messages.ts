import type { OrderRefusal } from '../../accounts/plan-orders.ts';
import type { RedeemResult, RedeemRefusal } from '../../accounts/redeem.ts';
import { formatUsd, NO_MONEY } from '../../ledger/money.ts';
import type { AutoTopUpProblem } from '../../payments/auto-top-up.ts';
import type { StartRefusal } from '../../payments/desk.ts';
import type { PaymentRules } from '../../payments/payments.ts';

/** Messages for refused payments, codes and plan changes: the reason, and what to do. */

/** Returns the message for a refused code. */
export function redeemMessage(result: Extract<RedeemResult, { type: 'refused' }>): string {
  const { why, minimumTopUp = NO_MONEY, validFromMs = 0, retryAfterMs = 0 } = result;
  if (why === 'needs_top_up') return `This code is for accounts that have topped up at least $${formatUsd(minimumTopUp)}.`;
  if (why === 'too_many_tries') {
    const minutes = Math.ceil(retryAfterMs / 60_000);
    return `Too many unknown codes. Try again in ${minutes <= 1 ? 'a minute' : `${minutes} minutes`}.`;
  }
  if (why !== 'not_yet_valid') return REDEEM[why];
  return `This code is not valid yet. It can be used from ${new Date(validFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}

const REDEEM: Readonly<Record<Exclude<RedeemRefusal, 'needs_top_up' | 'not_yet_valid' | 'too_many_tries'>, string>> = {
  unknown: 'Unknown code. Check for characters that look alike.',
  expired: 'This code has expired.',
  stopped: 'This code is no longer valid.',
  used_up: 'This code has been used up.',
  already_used: 'You have already used this code.',
  new_accounts_only: 'This code is for new accounts only.',
  has_plan: 'This code gives you a plan, and you already have one. Use it after your plan has ended.',
};

/** Returns the message for a payment that could not be started. */
export function startMessage(why: StartRefusal, rules: PaymentRules): string {
  switch (why) {
    case 'below_minimum':
      return `The minimum is $${formatUsd(rules.minimum)}.`;
    case 'above_maximum':
      return `The maximum per payment is $${formatUsd(rules.maximum)}.`;
    case 'not_whole_cents':
      return 'Enter an amount in whole cents.';
    case 'no_such_provider':
      return 'This payment method is not offered.';
    case 'too_many_tries':
      return 'Too many payments were started and not completed. Try again in an hour.';
  }
}

/** Returns the message for automatic top-ups that could not be turned on. */
export function autoTopUpMessage(why: AutoTopUpProblem, rules: PaymentRules): string {
  if (why === 'cap_below_amount') return 'The monthly maximum must be at least the amount of one top-up.';
  if (why === 'no_such_card') return 'Choose a saved card. You can save one when you top up.';
  return startMessage(why, rules);
}

/** Messages for refused plan orders. */
export const ORDER_REFUSALS: Readonly<Record<OrderRefusal, string>> = {
  no_such_plan: 'This plan no longer exists.',
  not_offered: 'This plan is not on sale.',
  has_plan: 'You already have a plan. Change it instead.',
  no_subscription: 'You have no plan to change.',
  past_due: 'Your plan is past due. Pay for it first, or cancel it.',
  not_an_upgrade: 'This plan does not cost more than yours. It can start with the next period.',
  quote_expired: 'The quoted price is no longer valid. Check the new price and confirm again.',
  done_before: 'This has already been done.',
  ended: 'Your plan has ended.',
};
