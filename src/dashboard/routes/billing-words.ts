import type { OrderRefusal } from '../../accounts/plan-orders.ts';
import type { RedeemResult, RedeemRefusal } from '../../accounts/redeem.ts';
import { formatUsd, NO_MONEY } from '../../ledger/money.ts';
import type { AutoTopUpProblem } from '../../payments/auto-top-up.ts';
import type { StartRefusal } from '../../payments/desk.ts';
import type { PaymentRules } from '../../payments/payments.ts';

/** What people are told when money cannot be taken or given: which it is, and what to do. */

/** Why a code was refused. */
export function sayRedeemRefusal(result: Extract<RedeemResult, { type: 'refused' }>): string {
  const { why, minimumTopUp = NO_MONEY, validFromMs = 0, retryAfterMs = 0 } = result;
  if (why === 'needs_top_up') return `This code is for accounts that have topped up at least $${formatUsd(minimumTopUp)}.`;
  if (why === 'too_many_tries') return `Too many codes that do not exist. Try again in ${Math.ceil(retryAfterMs / 60_000)} minutes.`;
  if (why !== 'not_yet_valid') return REDEEM[why];
  return `This code is not valid yet. It can be used from ${new Date(validFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}

const REDEEM: Readonly<Record<Exclude<RedeemRefusal, 'needs_top_up' | 'not_yet_valid' | 'too_many_tries'>, string>> = {
  unknown: 'There is no such code. Check for letters that look alike.',
  expired: 'This code has expired.',
  stopped: 'This code is not valid any more.',
  used_up: 'This code has been used up by others.',
  already_used: 'You have used this code already.',
  new_accounts_only: 'This code is for new accounts only.',
  has_plan: 'This code gives a plan, and you have one. Use it when your plan has ended.',
};

/** Why a payment was not begun. */
export function sayStartRefusal(why: StartRefusal, rules: PaymentRules): string {
  switch (why) {
    case 'below_minimum':
      return `The least is $${formatUsd(rules.minimum)}.`;
    case 'above_maximum':
      return `The most at once is $${formatUsd(rules.maximum)}.`;
    case 'not_whole_cents':
      return 'Whole cents can be paid, no parts of a cent.';
    case 'no_such_provider':
      return 'This way to pay is not offered.';
    case 'too_many_tries':
      return 'Too many payments were begun and not made. Try again in an hour.';
  }
}

/** Why automatic top-ups could not be switched on. */
export function sayAutoTopUpProblem(why: AutoTopUpProblem, rules: PaymentRules): string {
  if (why === 'cap_below_amount') return 'The most in a month must not be less than one top-up.';
  if (why === 'no_such_card') return 'Choose a saved card. Save one with a top-up first.';
  return sayStartRefusal(why, rules);
}

/** Why a plan could not be taken. */
export const ORDER_REFUSALS: Readonly<Record<OrderRefusal, string>> = {
  no_such_plan: 'There is no such plan any more.',
  not_offered: 'This plan is not for sale.',
  has_plan: 'You have a plan already; change it instead.',
  no_subscription: 'You have no plan that could be changed.',
  past_due: 'Your plan is not paid. Pay for it first, or cancel it.',
  not_an_upgrade: 'This plan is not dearer than yours; it can begin with the next period.',
  quote_expired: 'The price that was shown is too old. Look at it again.',
  done_before: 'This was done already.',
  ended: 'Your plan has ended.',
};
