import { ERRORS, type ErrorName } from '../errors.ts';
import type { REQUEST_ERRORS } from './vocabulary.ts';

/** What an error of a request means, for whoever reads the list of requests. */
export interface ErrorMeaning {
  readonly code: string;
  /** The status that the caller got, or would have got if the answer had not begun. */
  readonly status: number | undefined;
  readonly meaning: string;
}

const MEANINGS: Readonly<Partial<Record<ErrorName, string>>> = {
  provider_refused: 'The provider refused the request as it was. Change the request: trying again gives the same answer.',
  provider_rate_limited: 'Every provider of this model said that it has too much to do. Try again a little later.',
  provider_error: 'The provider failed while it answered. Nothing was charged; try again.',
  provider_unavailable: 'No provider of this model could be reached. Nothing was charged; try again.',
  provider_timeout: 'The provider took too long. Nothing was charged; try again, or ask for less at once.',
  provider_misconfigured: "The provider does not accept this service's own credentials. Only the operator can mend that.",
  invalid_image_url: 'A picture could not be fetched from its address. Check that anybody may read it.',
  invalid_image_format: 'A picture is not of a kind that the model reads.',
  invalid_media_url: 'A file could not be fetched from its address. Check that anybody may read it.',
  invalid_media_format: 'A file is not of a kind that the model reads.',
  request_too_large: 'The request, or what an address in it gives, is too large. Send less of it, or something smaller.',
  array_above_max_length: 'More addresses of files were given than are fetched for one request. Send fewer.',
  too_many_concurrent_requests: 'Too many files were being fetched at once. Nothing was charged; try again.',
  ledger_unavailable: 'The charge could not be written, so the answer was not given. Nothing was charged; try again.',
  too_busy: 'Too many large requests were under way. Nothing was charged; try again.',
  draining: 'The server was shutting down. Nothing was charged; try again.',
  internal_error: 'Something broke on our side. Nothing was charged. Quote the request id when you report it.',
} satisfies Record<(typeof REQUEST_ERRORS)[number], string>;

const UNKNOWN = 'The request failed before it was done. Nothing was charged.';

/** Explains the code of an error. */
export function explainError(code: string): ErrorMeaning {
  if (!isKnown(code)) return { code, status: undefined, meaning: UNKNOWN };
  return { code, status: ERRORS[code].status, meaning: MEANINGS[code] ?? UNKNOWN };
}

function isKnown(code: string): code is ErrorName {
  return Object.hasOwn(ERRORS, code);
}
