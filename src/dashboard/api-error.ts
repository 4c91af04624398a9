/** Every error code of the dashboard's API, with its HTTP status. */
export const API_ERRORS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  quote_expired: 409,
  too_many: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ApiErrorCode = keyof typeof API_ERRORS;

/** A refusal with a message for the user. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** The form field that caused the error. */
  readonly field: string | undefined;

  constructor(code: ApiErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }

  /** Extra headers of the response. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
}

/** A temporary refusal. Its `retry-after` header gives the wait in whole seconds. */
export class TooManyError extends ApiError {
  readonly #waitMs: number;

  constructor(message: string, waitMs: number, field?: string) {
    super('too_many', message, field);
    this.#waitMs = waitMs;
  }

  override get headers(): Readonly<Record<string, string>> {
    return { 'retry-after': String(Math.max(1, Math.ceil(this.#waitMs / 1000))) };
  }
}
