/** The properties of one kind of error. */
interface ErrorKind {
  readonly status: 400 | 401 | 403 | 404 | 429 | 500;
  readonly type: string;
  /** The `code` on the wire, where the dialect uses another word than our name, or none. */
  readonly code?: string | null;
  /** Whether the same request may succeed later. SDKs read it from `x-should-retry`. */
  readonly retry: boolean;
}

const badRequest = { status: 400, type: 'invalid_request_error', retry: false } as const;
const unauthorized = { status: 401, type: 'invalid_request_error', retry: false } as const;
const forbidden = { status: 403, type: 'invalid_request_error', retry: false } as const;
const notFound = { status: 404, type: 'invalid_request_error', retry: false } as const;
const tooMany = { status: 429, type: 'requests', code: 'rate_limit_exceeded', retry: true } as const;
const server = { status: 500, type: 'server_error', retry: true } as const;

/** Every error that `/v1` can return, and nothing else. docs/errors.md explains each; a test compares the two. */
export const ERRORS = {
  invalid_json: { ...badRequest, code: null },
  invalid_utf8: badRequest,
  nesting_too_deep: badRequest,
  request_too_large: badRequest,
  unsupported_content_type: badRequest,
  unsupported_content_encoding: badRequest,
  missing_required_parameter: badRequest,
  invalid_type: badRequest,
  invalid_value: badRequest,
  empty_array: badRequest,
  array_above_max_length: badRequest,
  string_above_max_length: badRequest,
  integer_below_min_value: badRequest,
  integer_above_max_value: badRequest,
  decimal_below_min_value: badRequest,
  decimal_above_max_value: badRequest,
  invalid_image_url: badRequest,
  invalid_image_format: badRequest,
  invalid_media_url: badRequest,
  invalid_media_format: badRequest,
  provider_refused: badRequest,
  request_loop: badRequest,
  missing_api_key: { ...unauthorized, code: null },
  invalid_api_key: unauthorized,
  key_disabled: unauthorized,
  model_not_allowed: forbidden,
  address_not_allowed: forbidden,
  account_suspended: forbidden,
  insufficient_quota: { ...forbidden, type: 'insufficient_quota' },
  budget_exhausted: { ...forbidden, type: 'insufficient_quota', code: 'insufficient_quota' },
  model_not_found: notFound,
  unknown_url: notFound,
  method_not_supported: notFound,
  rate_limit_exceeded: tooMany,
  tokens_limit_exceeded: { ...tooMany, type: 'tokens' },
  tokens_above_limit: { ...tooMany, type: 'tokens', retry: false },
  too_many_concurrent_requests: tooMany,
  budget_slowed: tooMany,
  provider_rate_limited: tooMany,
  internal_error: server,
  ledger_unavailable: server,
  draining: server,
  too_busy: server,
  provider_error: server,
  provider_unavailable: server,
  provider_timeout: server,
  provider_misconfigured: { ...server, retry: false },
} as const satisfies Record<string, ErrorKind>;

/** The name of an error in the table. */
export type ErrorName = keyof typeof ERRORS;

/** Returns true for the name of an error in the table. */
export function isErrorName(text: string): text is ErrorName {
  return Object.hasOwn(ERRORS, text);
}

interface ErrorDetails {
  /** The request field that is wrong, in the dialect's spelling: `messages[0].role`. */
  readonly param?: string;
  /** The `code` on the wire, where the provider gave a more specific one than ours. */
  readonly code?: string;
  /** The message to store, where the original contains something that must not be stored. */
  readonly storableMessage?: string;
  readonly retryAfterSeconds?: number;
  /** True if we refused the request before sending it to the provider. The gate may then try another one. */
  readonly isUnsent?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that the client sees. Status and type come from the table; the message says what to do. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly errorName: ErrorName;
  readonly details: ErrorDetails;

  constructor(errorName: ErrorName, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.errorName = errorName;
    this.details = details;
  }

  get status(): ErrorKind['status'] {
    return ERRORS[this.errorName].status;
  }
}

/** Turns anything thrown into an error that may be shown. Stacks and foreign messages never leave the service. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', 'Something went wrong on our side. Include the request id when you report it.', {
    cause: thrown,
  });
}

/** Writes the error object of the dialect, always with all four keys. */
export function errorBody(error: GatewayError): string {
  const kind: ErrorKind = ERRORS[error.errorName];
  return JSON.stringify({
    error: {
      message: error.message,
      type: kind.type,
      param: error.details.param ?? null,
      code: error.details.code ?? (kind.code === undefined ? error.errorName : kind.code),
    },
  });
}

/** The longest wait that the official SDK for Node honours. It takes a longer one for a mistake and retries at once. */
const HONOURED_SECONDS_MAX = 60;

/** Returns the headers that tell an SDK whether and when to retry. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...error.details.headers };
  const { retryAfterSeconds } = error.details;
  const isHonoured = retryAfterSeconds === undefined || retryAfterSeconds <= HONOURED_SECONDS_MAX;
  if (!ERRORS[error.errorName].retry || !isHonoured) headers['x-should-retry'] = 'false';
  if (retryAfterSeconds === undefined) return headers;
  // The official SDKs read the milliseconds first. The other header must be whole seconds: some clients parse nothing else.
  const retryAfterMs = Math.max(1, Math.ceil(retryAfterSeconds * 1000));
  headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
  headers['retry-after-ms'] = String(retryAfterMs);
  return headers;
}
