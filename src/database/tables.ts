import type { ColumnType, Generated } from 'kysely';
import type { DefaultInteger, Integer, LaterInteger, OptionalInteger } from './columns.ts';
import type { MoneyTables } from './money-tables.ts';

/** What is added up about requests. */
interface UsageSums {
  requests: Integer;
  errors: Integer;
  input_tokens: Integer;
  cached_input_tokens: Integer;
  cache_write_tokens: Integer;
  output_tokens: Integer;
  reasoning_tokens: Integer;
  cost: Integer;
  /** `first_token_count` is how many of them had a first token. */
  first_token_ms: Integer;
  first_token_count: Integer;
  duration_ms: Integer;
}

/** The schema, for the query builder. migrations/ makes it. */
export interface Tables extends MoneyTables {
  accounts: {
    id: string;
    email: string;
    status: 'active' | 'suspended';
    is_admin: Integer;
    created_at: Integer;
    /** Set when its owner deleted it: its money stays in the books, and nothing else of it. */
    closed_at: LaterInteger;
  };
  wallets: {
    account_id: string;
    credits_posted: Integer;
    debits_posted: Integer;
    debits_pending: Integer;
    /** When the plan's credit comes anew, for accounts that may spend nothing else; null for all others. */
    plan_resets_at: LaterInteger;
  };
  transfers: { id: string; debit: string; credit: string; amount: Integer; kind: string; ref: string; created_at: Integer };
  grants: {
    id: string;
    account_id: string;
    kind: 'paid' | 'plan' | 'promo' | 'manual';
    amount: Integer;
    remaining: Integer;
    expires_at: OptionalInteger;
    /** What it was given for; the same thing is never given twice. */
    source: string;
    created_at: Integer;
    /** The smaller is used first; among equals, what ends first. */
    draw_order: DefaultInteger;
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
    /** What the request has cost so far, at whom, and for which tokens. */
    progress: DefaultInteger;
    provider: Generated<string>;
    input_tokens: DefaultInteger;
    cached_input_tokens: DefaultInteger;
    cache_write_tokens: DefaultInteger;
    output_tokens: DefaultInteger;
    reasoning_tokens: DefaultInteger;
  };
  usage: {
    request_id: string;
    account_id: string;
    key_id: string;
    model: string;
    provider: string;
    input_tokens: Integer;
    cached_input_tokens: Integer;
    cache_write_tokens: Integer;
    output_tokens: Integer;
    reasoning_tokens: Integer;
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
    /** Of the first choice, as it was sent to the caller. */
    finish_reason: string | null;
    /** The name of our error where the outcome is `failed`. */
    error_code: string | null;
    /** What the model is called at the provider that answered; empty where none did. */
    served_model: string;
    /** For whom the request was made, by the caller's own name for them. */
    end_user: string | null;
    /** What of the cost was paid from a plan and from promotions; null where nothing was. */
    plan_cost: LaterInteger;
    promo_cost: LaterInteger;
  };
  attempts: { request_id: string; n: Integer; provider: string; outcome: string; duration_ms: Integer };
  usage_rollups: UsageSums & {
    account_id: string;
    key_id: string;
    model: string;
    /** Empty where none answered, and for quarters that were counted before it was noted. */
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
    /** Null for the total, which has no end; 0 where the next hold works it out. */
    window_end: LaterInteger;
    /** By whose calendar, and whether its last fifth is let out evenly: as the key has it. */
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
    /** By whose calendar budgets count. */
    limit_zone: Generated<string>;
  };
  /** When a secret was last used, and from which block of addresses. */
  key_uses: { secret_hash: string; used_at: Integer; address_range: string };
  /** Requests that were refused before a provider was asked: usage/refusals.ts. */
  refusals: {
    request_id: string;
    account_id: string;
    key_id: string;
    status: Integer;
    /** The name of our error. */
    error_code: string;
    param: string | null;
    message: string;
    /** Null where the name is unknown here and may be anything. */
    model: string | null;
    is_streaming: Integer;
    /** How many more of this key and error there were in the same second, which have no row. */
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
    /** Made for one call from the dashboard. */
    is_trial: ColumnType<bigint, bigint | number | undefined, never>;
  };
  /** Sums of past hours and days for long reports: usage/past.ts. Those by one dimension leave the others empty. */
  usage_past: UsageSums & {
    account_id: string;
    grid: string;
    dimension: 'model' | 'key' | 'provider' | 'model_key' | 'model_provider' | 'key_provider' | 'every';
    start_at: Integer;
    key_id: string;
    model: string;
    provider: string;
  };
  /** How far an account's past is summed up on a grid, and when a report last wanted that. */
  usage_past_until: { account_id: string; grid: string; until: Integer; asked_at: Integer };
  /** What each account came to in past hours and days: usage/service-past.ts. */
  account_past: { grid: string; start_at: Integer; account_id: string; requests: Integer; cost: Integer };
  /** What a wallet held when everything before a moment had been booked. */
  balance_marks: { account_id: string; before_at: Integer; balance: Integer };
  /** The accounts that have what they ask and get recorded, and for how many days. */
  content_logging: { account_id: string; days: Integer };
  request_contents: { request_id: string; account_id: string; request: string; answer: string; is_cut: Integer; delete_at: Integer };
  /** Files of requests that are made in the background: usage/export-jobs.ts. */
  export_jobs: {
    id: string;
    account_id: string;
    /** Who asked for it, and is told when it is done. */
    person_id: string;
    format: 'csv' | 'jsonl';
    zone: string;
    /** What stood in the address, and what that means: both JSON. */
    query: string;
    filter: string;
    /** `dropped` is gone for everybody; what is left of it is deleted little by little. */
    state: 'waiting' | 'running' | 'done' | 'failed' | 'dropped';
    /** Requests with smaller ids are still to be written; null before the first step. */
    before_id: string | null;
    /** When the oldest request of the range came in, to tell how far the work is. */
    oldest_at: Integer;
    row_count: DefaultInteger;
    byte_count: DefaultInteger;
    chunk_count: DefaultInteger;
    problem: string | null;
    /** How often it was taken up since it last came further. */
    tries: DefaultInteger;
    worker: string | null;
    /** The last sign of life of the worker. */
    seen_at: Integer;
    created_at: Integer;
    finished_at: OptionalInteger;
    expires_at: OptionalInteger;
  };
  /** The file in pieces; each is a gzip member of its own, so that one behind the other they are a gzip file. */
  export_chunks: { job_id: string; n: Integer; bytes: Uint8Array };
  saved_views: { id: string; account_id: string; page: string; name: string; search: string; created_at: Integer };
  /** What providers want back with the next turn of a conversation; a day old at most. */
  carried: { account_id: string; tool_call_id: string; value: string; created_at: Integer };
  /** Who signs in. Only what we read or change ourselves: the library for accounts does the rest. */
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
    /** Text in the embedded database, a date in PostgreSQL. */
    created_at: ColumnType<string | Date, never, never>;
    /** When it was last used. */
    updated_at: ColumnType<string | Date, never, string>;
  };
  passkeys: { id: string; person_id: string; name: string | null; created_at: ColumnType<string | Date | null, never, never> };
  /** Passwords, and who else lets a person in. */
  credentials: {
    id: string;
    person_id: string;
    /** `credential` for a password. */
    provider_id: string;
    password: string | null;
    created_at: ColumnType<string | Date, never, never>;
  };
  two_factors: { id: string; person_id: string };
  auth_rate_limits: { name: string; count: Integer; window_ends_at: Integer; strikes: Integer };
  /** Links that let somebody in once. */
  invitations: {
    token_hash: string;
    kind: 'operator' | 'person';
    email: string | null;
    expires_at: Integer;
    used_at: OptionalInteger;
    created_at: Integer;
  };
  /** Addresses that got the credit for signing up; outlives their accounts. */
  sign_up_credits: { email_hash: string; created_at: Integer };
  /** Accounts that were given their first key. */
  first_keys: { account_id: string; created_at: Integer };
  /** At most one row. */
  banners: { id: Integer; text: string; tone: 'info' | 'warning'; created_at: Integer };
  service_secrets: { name: string; value: string; created_at: Integer };
  alert_rules: {
    id: string;
    account_id: string;
    kind: string;
    /** Nano-dollars, per cent or days, as the kind has it. */
    threshold: Integer;
    by_mail: Integer;
    by_webhook: Integer;
    created_at: Integer;
  };
  /** What has fired and is not over. */
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
  /** Providers that operators took out of service for now. */
  disabled_providers: { provider: string; disabled_by: string; disabled_at: Integer };
  /** One row: raised by every change of accounts, keys and what else nodes remember, so that a running server knows what it knew is old. */
  changes: { id: Generated<bigint>; counter: Integer };
}
