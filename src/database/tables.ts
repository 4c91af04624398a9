import type { ColumnType, Generated } from 'kysely';
import type { DefaultInteger, Integer, OptionalInteger } from './columns.ts';
import type { MoneyTables } from './money-tables.ts';

interface TokenCounts {
  input_tokens: Integer;
  cached_input_tokens: Integer;
  cache_write_tokens: Integer;
  output_tokens: Integer;
  reasoning_tokens: Integer;
}

/** Sums over requests. */
interface UsageSums extends TokenCounts {
  requests: Integer;
  errors: Integer;
  cost: Integer;
  /** `first_token_count` is the number of requests that had a first token. */
  first_token_ms: Integer;
  first_token_count: Integer;
  duration_ms: Integer;
}

/** The schema for the query builder, created by migrations/. */
export interface Tables extends MoneyTables {
  accounts: {
    id: string;
    email: string;
    status: 'active' | 'suspended';
    is_admin: Integer;
    created_at: Integer;
    /** Set when the owner deleted the account. Only its money stays, in the ledger. */
    closed_at: OptionalInteger;
  };
  wallets: {
    account_id: string;
    credits_posted: Integer;
    debits_posted: Integer;
    debits_pending: Integer;
    /** When plan credit renews, for accounts that may spend nothing else; null for all others. */
    plan_resets_at: OptionalInteger;
  };
  transfers: { id: string; debit: string; credit: string; amount: Integer; kind: string; ref: string; created_at: Integer };
  grants: {
    id: string;
    account_id: string;
    kind: 'paid' | 'plan' | 'promo' | 'manual';
    amount: Integer;
    remaining: Integer;
    expires_at: OptionalInteger;
    /** What it was given for. The same source is never credited twice. */
    source: string;
    created_at: Integer;
    /** Smaller values are used first; among equals, what expires first. */
    draw_order: DefaultInteger;
    /** 1 once nothing remains. The indexes leave such rows out. */
    is_spent: DefaultInteger;
  };
  holds: {
    id: string;
    account_id: string;
    key_id: string;
    model: string;
    price_version: Integer;
    amount: Integer;
    node_id: string;
    created_at: Integer;
    /** The cost so far, the provider and the tokens. */
    progress: DefaultInteger;
    provider: Generated<string>;
    input_tokens: DefaultInteger;
    cached_input_tokens: DefaultInteger;
    cache_write_tokens: DefaultInteger;
    output_tokens: DefaultInteger;
    reasoning_tokens: DefaultInteger;
  };
  usage: TokenCounts & {
    request_id: string;
    account_id: string;
    key_id: string;
    model: string;
    provider: string;
    is_estimated: Integer;
    price_version: Integer;
    cost: Integer;
    held: Integer;
    outcome: string;
    first_token_ms: OptionalInteger;
    duration_ms: Integer;
    attempts: Integer;
    created_at: Integer;
    is_streaming: Integer;
    /** Of the first choice, as sent to the caller. */
    finish_reason: string | null;
    /** The name of the gate's own error, when the outcome is `failed`. */
    error_code: string | null;
    /** The model's name at the provider that answered; empty if none did. */
    served_model: string;
    /** The caller's own name for its end user. */
    end_user: string | null;
    /** How much of the cost plans and promotions paid; null if nothing. */
    plan_cost: OptionalInteger;
    promo_cost: OptionalInteger;
  };
  attempts: { request_id: string; n: Integer; provider: string; outcome: string; duration_ms: Integer };
  usage_rollups: UsageSums & {
    account_id: string;
    key_id: string;
    model: string;
    /** Empty if none answered, and for quarter hours from before the provider was recorded. */
    provider: string;
    quarter_hour: Integer;
  };
  prices: { model: string; version: Integer; item: string; pico: Integer; created_at: Integer };
  key_budgets: {
    key_id: string;
    period: 'day' | 'week' | 'month' | 'total';
    amount: Integer;
    spent: Integer;
    held: Integer;
    window_start: Integer;
    /** Null for the total, which never ends; 0 until the next hold computes it. */
    window_end: OptionalInteger;
    /** The calendar it follows, and whether its last fifth is released evenly. Both copied from the key. */
    zone: Generated<string>;
    is_paced: DefaultInteger;
  };
  nodes: { node_id: string; epoch: Integer; heartbeat: Integer };
  audit: { id: string; actor: string; action: string; subject: string; detail: string; created_at: Integer };
  api_keys: {
    id: string;
    account_id: string;
    name: string;
    /** A JSON array of model ids, or null for all. */
    models: string | null;
    requests_per_minute: OptionalInteger;
    tokens_per_minute: OptionalInteger;
    concurrent: OptionalInteger;
    expires_at: OptionalInteger;
    created_at: Integer;
    deleted_at: OptionalInteger;
    /** JSON arrays, or null. */
    denied_models: string | null;
    addresses: string | null;
    tags: string | null;
    disabled_at: OptionalInteger;
    updated_at: OptionalInteger;
    at_limit: Generated<'stop' | 'slow_down'>;
    /** The time zone of its budgets' calendar. */
    limit_zone: Generated<string>;
  };
  /** When a secret was last used, and from which block of addresses. */
  key_uses: { secret_hash: string; used_at: Integer; address_range: string };
  /** Requests refused before a provider was called: usage/refusals.ts. */
  refusals: {
    request_id: string;
    account_id: string;
    key_id: string;
    status: Integer;
    /** The name of the gate's own error. */
    error_code: string;
    param: string | null;
    message: string;
    /** Null when the model is unknown, since the name could then be any text. */
    model: string | null;
    is_streaming: Integer;
    /** How many more refusals with this key and error happened in the same second; they have no row. */
    others: Integer;
  };
  /** When a budget last refused a request of its key. */
  budget_refusals: { key_id: string; period: 'day' | 'week' | 'month' | 'total'; refused_at: Integer };
  key_secrets: {
    hash: string;
    key_id: string;
    prefix: string;
    last_four: string;
    created_at: Integer;
    expires_at: OptionalInteger;
    /** Created for one call from the dashboard. */
    is_trial: ColumnType<bigint, bigint | number | undefined, never>;
  };
  /** Sums of past hours and days for long reports: usage/history.ts. Sums by one dimension leave the others empty. */
  usage_past: UsageSums & {
    account_id: string;
    grid: string;
    dimension: 'model' | 'key' | 'provider' | 'model_key' | 'model_provider' | 'key_provider' | 'every';
    start_at: Integer;
    key_id: string;
    model: string;
    provider: string;
  };
  /** How far an account's history is summed on a grid, and when a report last needed it. */
  usage_past_until: { account_id: string; grid: string; until: Integer; asked_at: Integer };
  /** Each account's requests and cost in past hours and days: usage/service-history.ts. */
  account_past: { grid: string; start_at: Integer; account_id: string; requests: Integer; cost: Integer };
  /** A wallet's balance after all transfers before a moment. */
  balance_marks: { account_id: string; before_at: Integer; balance: Integer };
  /** The accounts that record their prompts and answers, and for how many days. */
  content_logging: { account_id: string; days: Integer };
  request_contents: { request_id: string; account_id: string; request: string; answer: string; is_cut: Integer; delete_at: Integer };
  /** Request exports that are built in the background: usage/export-jobs.ts. */
  export_jobs: {
    id: string;
    account_id: string;
    /** The person who asked for it and is notified when it is done. */
    person_id: string;
    format: 'csv' | 'jsonl';
    zone: string;
    /** The query string and the filter parsed from it, both JSON. */
    query: string;
    filter: string;
    /** A `dropped` job is gone for users; its remains are deleted bit by bit. */
    state: 'waiting' | 'running' | 'done' | 'failed' | 'dropped';
    /** Requests with smaller ids are still to be written; null before the first step. */
    before_id: string | null;
    /** When the oldest request in the range came in, to show progress. */
    oldest_at: Integer;
    row_count: DefaultInteger;
    byte_count: DefaultInteger;
    chunk_count: DefaultInteger;
    problem: string | null;
    /** How often it was started since it last made progress. */
    tries: DefaultInteger;
    worker: string | null;
    /** The worker's last heartbeat. */
    seen_at: Integer;
    created_at: Integer;
    finished_at: OptionalInteger;
    expires_at: OptionalInteger;
  };
  /** The file in pieces. Each is its own gzip member, so concatenated they form a gzip file. */
  export_chunks: { job_id: string; n: Integer; bytes: Uint8Array };
  saved_views: { id: string; account_id: string; page: string; name: string; search: string; created_at: Integer };
  /** What providers need back in the next turn of a conversation; kept for a day at most. */
  carried: { account_id: string; tool_call_id: string; value: string; created_at: Integer };
  /** The people who sign in. Only the columns we use ourselves: the authentication library handles the rest. */
  people: {
    id: string;
    account_id: string | null;
    name: string;
    email: string;
    email_verified: ColumnType<boolean | bigint, never, boolean | number>;
    two_factor_enabled: ColumnType<boolean | bigint | null, never, boolean | number>;
    zone: string | null;
    number_format: string | null;
  };
  sessions: {
    id: string;
    person_id: string;
    address: string | null;
    user_agent: string | null;
    passed_second_factor: ColumnType<boolean | bigint | null, never, boolean | number>;
    /** Text in the embedded database, a date in PostgreSQL. */
    created_at: ColumnType<string | Date, never, never>;
    /** When it was last used. */
    updated_at: ColumnType<string | Date, never, string>;
  };
  passkeys: { id: string; person_id: string; name: string | null; created_at: ColumnType<string | Date | null, never, never> };
  /** Passwords, and other providers a person signs in with. */
  credentials: {
    id: string;
    person_id: string;
    /** `credential` for a password. */
    provider_id: string;
    password: string | null;
    created_at: ColumnType<string | Date, never, never>;
    updated_at: ColumnType<string | Date, never, never>;
  };
  two_factors: { id: string; person_id: string };
  auth_rate_limits: { name: string; count: Integer; window_ends_at: Integer; strikes: Integer };
  /** Single-use invitation links. */
  invitations: {
    token_hash: string;
    kind: 'operator' | 'person';
    email: string | null;
    expires_at: Integer;
    used_at: OptionalInteger;
    created_at: Integer;
  };
  /** Addresses that received the sign-up credit. Outlives their accounts. */
  sign_up_credits: { email_hash: string; created_at: Integer };
  /** Accounts that received their first key. */
  first_keys: { account_id: string; created_at: Integer };
  /** At most one row. */
  banners: { id: Integer; text: string; tone: 'info' | 'warning'; created_at: Integer };
  service_secrets: { name: string; value: string; created_at: Integer };
  alert_rules: {
    id: string;
    account_id: string;
    kind: string;
    /** In nano-dollars, per cent or days, depending on the kind. */
    threshold: Integer;
    by_mail: Integer;
    by_webhook: Integer;
    created_at: Integer;
  };
  /** Alerts that have fired and are not over. */
  alert_states: { rule_id: string; subject: string; fired_at: Integer };
  alert_webhooks: { account_id: string; url: string; secret: string; created_at: Integer };
  alert_deliveries: {
    id: string;
    account_id: string;
    kind: string;
    channel: 'mail' | 'webhook';
    title: string;
    payload: string;
    status: 'waiting' | 'sent' | 'failed';
    tries: Integer;
    next_try_at: Integer;
    problem: string | null;
    created_at: Integer;
    finished_at: OptionalInteger;
  };
  /** Providers that operators have temporarily disabled. */
  disabled_providers: { provider: string; disabled_by: string; disabled_at: Integer };
  /**
   * One row. Every change to accounts, keys and other data that nodes cache raises the counter, so that servers know their cache is stale.
   */
  changes: { id: Generated<bigint>; counter: Integer };
  /** The counter of `changes` when an account last changed. The empty id stands for all accounts. */
  changed_accounts: { account_id: string; counter: Integer };
}
