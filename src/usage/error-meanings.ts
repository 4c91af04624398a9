import { ERRORS, isErrorName, type ErrorName } from '../errors.ts';
import type { REQUEST_ERRORS } from './vocabulary.ts';

/** What an error means, for people who read the list of requests. */
export interface ErrorMeaning {
  readonly code: string;
  /** The status the caller got, or would have got if the response had not already begun. */
  readonly status: number | undefined;
  readonly meaning: string;
}

const MEANINGS: Readonly<Partial<Record<ErrorName, string>>> = {
  provider_refused: 'The provider refused the request as it was. Change the request: a retry gets the same response.',
  provider_rate_limited: 'Every provider of this model reported too many requests. Try again a little later.',
  provider_error: 'The provider failed while answering. Nothing was charged; try again.',
  provider_unavailable: 'No provider of this model could be reached. Nothing was charged; try again.',
  provider_timeout: 'The provider took too long. Nothing was charged; try again, or ask for less at once.',
  provider_misconfigured: "The provider does not accept this service's own credentials. Only the operator can fix this.",
  invalid_image_url: 'An image could not be fetched from its address. Check that it is publicly readable.',
  invalid_image_format: 'An image has a format that the model cannot read.',
  invalid_media_url: 'A file could not be fetched from its address. Check that it is publicly readable.',
  invalid_media_format: 'A file has a format that the model cannot read.',
  request_too_large: 'The request, or a file it refers to, is too large. Send less, or something smaller.',
  array_above_max_length: 'The request refers to more files than are fetched for one request. Send fewer.',
  too_many_concurrent_requests: 'Too many files were being fetched at once. Nothing was charged; try again.',
  ledger_unavailable: 'The charge could not be written, so the answer was withheld. Nothing was charged; try again.',
  too_busy: 'Too many large requests were running. Nothing was charged; try again.',
  draining: 'The server was shutting down. Nothing was charged; try again.',
  internal_error: 'Something went wrong on our side. Nothing was charged. Quote the request id when you report it.',
} satisfies Record<(typeof REQUEST_ERRORS)[number], string>;

const UNKNOWN = 'The request failed before it was complete. Nothing was charged.';

/** Explains an error code. */
export function explainError(code: string): ErrorMeaning {
  if (!isErrorName(code)) return { code, status: undefined, meaning: UNKNOWN };
  return { code, status: ERRORS[code].status, meaning: MEANINGS[code] ?? UNKNOWN };
}
