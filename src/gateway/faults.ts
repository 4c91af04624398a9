import { GatewayError } from '../errors.ts';
import { ProviderFault } from '../providers/provider.ts';

const MESSAGE_CHARACTERS_MAX = 2000;
const RETRY_SECONDS_DEFAULT = 5;
const RETRY_SECONDS_MAX = 3600;

/** What a provider's answer said about itself, beside its fault. */
interface FaultContext {
  readonly apiKey: string | undefined;
  readonly retryAfter: string | undefined;
  /** The request could not be said to it, so it was not asked. */
  readonly isUnsent?: boolean;
}

/**
 * What the caller is told about a failed provider call. A mistake in the request stays the caller's, in the provider's
 * words; whatever is between us and the provider (our key, our balance there) is ours.
 */
export function toCallerError(thrown: unknown, context: FaultContext): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (!(thrown instanceof ProviderFault)) {
    return new GatewayError('provider_unavailable', 'The provider could not be reached or broke the connection.', {
      cause: thrown,
      retryAfterSeconds: 1,
    });
  }
  const { status, code, param, message } = thrown;
  if (isOurs(thrown)) return new GatewayError('provider_misconfigured', MISCONFIGURED, { cause: thrown });
  if (status === 429) {
    const retryAfterSeconds = bound(thrown.retryAfterSeconds ?? readRetryAfter(context.retryAfter));
    return new GatewayError('provider_rate_limited', RATE_LIMITED, { cause: thrown, retryAfterSeconds });
  }
  // Groq says so of a request above the limit that we have there. Its words, with our limit in them, are not passed on, and another provider may take the request.
  if (status === 413 && code === 'rate_limit_exceeded') return new GatewayError('request_too_large', TOO_LARGE, { cause: thrown });
  if (status === 400 || status === 413 || status === 422)
    return new GatewayError('provider_refused', redact(message, context.apiKey), {
      cause: thrown,
      ...(code === undefined ? {} : { code: redact(code, context.apiKey) }),
      ...(param === undefined ? {} : { param: redact(param, context.apiKey) }),
      isUnsent: context.isUnsent === true,
    });
  return new GatewayError('provider_error', 'The provider failed to answer. Nothing was charged.', { cause: thrown });
}

const MISCONFIGURED = 'The provider refused our own credentials or settings. The operator of this service has been alerted.';
const RATE_LIMITED = 'The provider of this model is receiving more requests than it allows. Please try again later.';
const TOO_LARGE = 'The request has more tokens than the provider takes from this service at once. Send less.';

/** Whether another route, or another try, may succeed where this one failed. */
export function mayTryNext(error: GatewayError): boolean {
  return error.status === 500 || error.status === 429 || isOfRoute(error);
}

/** Whether only this route cannot carry the request, since its dialect has no word for it or we may not send so much there. Another may. */
export function isOfRoute({ status, errorName, details }: GatewayError): boolean {
  return status === 400 && (errorName !== 'provider_refused' || details.isUnsent === true);
}

/** A key that is wrong, a bill that is not paid, a model that is not there: nothing the caller could change. */
function isOurs(fault: ProviderFault): boolean {
  const { status, code } = fault;
  return status === 401 || status === 402 || status === 403 || status === 404 || (status === 429 && code === 'insufficient_quota');
}

/** Seconds or a date, as HTTP has it. */
function readRetryAfter(header: string | undefined): number {
  if (header === undefined) return RETRY_SECONDS_DEFAULT;
  return /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
}

/** A caller that is told to wait a day gives up. */
function bound(seconds: number): number {
  return Number.isFinite(seconds) ? Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)) : RETRY_SECONDS_DEFAULT;
}

/** Bounded, and without our key, should a provider ever repeat it. */
function redact(message: string, apiKey: string | undefined): string {
  const text = apiKey === undefined ? message : message.replaceAll(apiKey, '[redacted]');
  return text.length > MESSAGE_CHARACTERS_MAX ? `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…` : text;
}
