/** Every way in which the dashboard's API refuses, and its status. */
export const API_ERRORS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ApiErrorCode = keyof typeof API_ERRORS;

/** A refusal with a text for the person who asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** The field of the form that is to blame. */
  readonly field: string | undefined;

  constructor(code: ApiErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }

  /** What the answer has beside its body. */
  get headers(): Readonly<Record<string, string>> {
    return {};
  }
}

/** A refusal that is over after a while. Programs are told how long that is, in whole seconds. */
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
