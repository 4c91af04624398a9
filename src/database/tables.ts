import type { ColumnType, Generated } from 'kysely';

/** Integers come back as bigint from the embedded database; times are milliseconds since 1970. */
type Integer = ColumnType<bigint, bigint | number, bigint | number>;
type OptionalInteger = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;

/** The schema, for the query builder. migrations/ makes it. */
export interface Tables {
  accounts: {
    id: string;
    email: string;
    status: 'active' | 'suspended';
    is_admin: Integer;
    created_at: Integer;
  };
  wallets: { account_id: string; balance: Integer; held: Integer };
  credits: { id: string; account_id: string; amount: Integer; reason: string; created_at: Integer };
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
    cost: Integer;
    held: Integer;
    outcome: string;
    duration_ms: Integer;
    created_at: Integer;
  };
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
  };
  key_secrets: {
    hash: string;
    key_id: string;
    prefix: string;
    last_four: string;
    created_at: Integer;
    expires_at: OptionalInteger;
  };
  /** One row: raised by every change of accounts, credit and keys, so that a running server knows what it knew is old. */
  changes: { id: Generated<bigint>; counter: Integer };
}
