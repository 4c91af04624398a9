import type { Generated } from 'kysely';
import type { DefaultInteger, Integer, OptionalInteger } from './columns.ts';

/** The part of the schema that handles incoming money, created by migrations/006-money-in.ts. */
export interface MoneyTables {
  payments: {
    id: string;
    account_id: string;
    provider: string;
    purpose: 'top_up' | 'auto_top_up' | 'plan';
    status: 'created' | 'open' | 'unknown' | 'paid' | 'failed' | 'expired';
    /** The credited amount, in nano-dollars. */
    amount: Integer;
    /** What the payer is charged. */
    charge_cents: Integer;
    bonus: DefaultInteger;
    reversed: DefaultInteger;
    bonus_reversed: DefaultInteger;
    provider_ref: string | null;
    session_ref: string | null;
    method_ref: string | null;
    saves_card: DefaultInteger;
    /** Where the payer is sent to pay. */
    address: string | null;
    /** JSON: what to buy with the money once it has arrived. */
    plan_order: string | null;
    transfer_id: string | null;
    reason: Generated<string>;
    receipt_url: string | null;
    created_at: Integer;
    asked_at: Integer;
    paid_at: OptionalInteger;
  };
  provider_charges: { provider_ref: string };
  payment_reversals: {
    id: string;
    provider_ref: string;
    kind: 'refund' | 'dispute';
    cents: Integer;
    state: 'standing' | 'lifted';
    created_at: Integer;
  };
  /** The credit that refunds and disputes of a charge have taken: of the payment, or of its bonus. */
  taken_credit: { provider_ref: string; part: 'paid' | 'promo'; grant_id: string; amount: Integer };
  webhook_events: {
    event_id: string;
    provider: string;
    type: string;
    /** `received` events could not be processed. */
    outcome: 'received' | 'applied' | 'ignored' | 'refused';
    payment_id: string | null;
    detail: string;
    created_at: Integer;
    tries: DefaultInteger;
  };
  payment_customers: {
    account_id: string;
    provider: string;
    customer_ref: string;
    /** When the provider must delete the customer, because the account is closed. */
    forget_at: OptionalInteger;
  };
  auto_top_ups: {
    account_id: string;
    is_on: Integer;
    threshold: Integer;
    amount: Integer;
    monthly_cap: Integer;
    method_ref: string;
    /** Why it is off, unless the account turned it off itself. */
    reason: string;
    updated_at: Integer;
  };
  plans: {
    id: string;
    name: string;
    price: Integer;
    period: 'month' | 'year';
    included: Integer;
    requests_per_minute: OptionalInteger;
    tokens_per_minute: OptionalInteger;
    concurrent: OptionalInteger;
    /** A JSON array of model ids, or null for all. */
    models: string | null;
    is_offered: Integer;
    origin: 'settings' | 'command';
    created_at: Integer;
    ended_at: OptionalInteger;
    /** Which credit its subscribers use first, unless they choose. */
    use_first: Generated<'plan' | 'balance'>;
    /** What happens when its credit is used up. */
    overflow: Generated<'balance' | 'stop'>;
  };
  subscriptions: {
    id: string;
    account_id: string;
    plan_id: string;
    status: 'active' | 'past_due' | 'ended';
    pays_by: 'balance' | 'card' | 'nobody';
    method_ref: string | null;
    /** The start that periods are counted from, and the number of this one. The 31st stays the 31st after a February. */
    anchor: Integer;
    turn: Integer;
    period_start: Integer;
    period_end: Integer;
    periods_left: OptionalInteger;
    ends_with_period: Integer;
    next_plan_id: string | null;
    grace_until: OptionalInteger;
    retry_at: OptionalInteger;
    tries: DefaultInteger;
    reason: string;
    created_at: Integer;
    /** The subscriber's choice; null for the plan's default. */
    use_first: 'plan' | 'balance' | null;
  };
  plan_periods: {
    subscription_id: string;
    period_start: Integer;
    period_end: Integer;
    plan_id: string;
    price: Integer;
    included: Integer;
    changes: DefaultInteger;
    created_at: Integer;
  };
  promo_codes: {
    id: string;
    code_hash: string;
    shown: string;
    campaign: string;
    kind: 'credit' | 'plan' | 'bonus';
    /** The credit, or the maximum bonus. */
    amount: OptionalInteger;
    percent: OptionalInteger;
    plan_id: string | null;
    periods: OptionalInteger;
    credit_days: OptionalInteger;
    used: Integer;
    max_uses: Integer;
    per_account: Integer;
    new_account_days: OptionalInteger;
    minimum_top_up: DefaultInteger;
    valid_from: OptionalInteger;
    valid_to: OptionalInteger;
    stopped_at: OptionalInteger;
    created_at: Integer;
  };
  promo_redemptions: {
    campaign: string;
    account_id: string;
    n: Integer;
    code_id: string;
    email_hash: string;
    /** A bonus waits for the next top-up. */
    state: 'done' | 'waiting';
    payment_id: string | null;
    created_at: Integer;
  };
  promo_guesses: { name: string; window_start: Integer; failures: Integer };
}
