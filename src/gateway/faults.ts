import { GatewayError } from '../errors.ts';
import { ProviderFault } from '../providers/dialect.ts';
import { redact, type Credentials } from './credentials.ts';

const MESSAGE_CHARACTERS_MAX = 2000;
const RETRY_SECONDS_DEFAULT = 5;
const RETRY_SECONDS_MAX = 3600;

/** The circumstances of a failed exchange. */
interface FaultContext {
  /** What the request was sent with, to be redacted in its message; undefined if the message is our own. */
  readonly credentials: Credentials | undefined;
  /** The headers of the provider's answer; undefined without one. */
  readonly headers: { get(name: string): string | undefined } | undefined;
  /** True when the request could not be encoded for the provider, so it was never sent. */
  readonly isUnsent?: boolean;
}

/**
 * Turns a failed exchange into the error that the client sees. A mistake in the request is reported in the provider's words.
 * Problems between the operator and the provider, such as a wrong key or an unpaid bill, are reported as ours.
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
  if (isOperatorFault(thrown)) return new GatewayError('provider_misconfigured', MISCONFIGURED, { cause: thrown });
  if (status === 429) {
    const retryAfterSeconds = bound(thrown.retryAfterSeconds ?? readRetryAfter(context));
    return new GatewayError('provider_rate_limited', RATE_LIMITED, { cause: thrown, retryAfterSeconds });
  }
  // A request above our own limit at OpenAI or Groq. The message contains that limit, so it is not passed on. Another provider may accept
  // the request.
  if (status === 413 && code === 'rate_limit_exceeded') return new GatewayError('request_too_large', TOO_LARGE, { cause: thrown });
  if (status === 400 || status === 413 || status === 422)
    return new GatewayError('provider_refused', shown(message, context), {
      cause: thrown,
      ...(code === undefined ? {} : { code: shown(code, context) }),
      ...(param === undefined ? {} : { param: shown(param, context) }),
      isUnsent: thrown.isUnsent || context.isUnsent === true,
    });
  return new GatewayError('provider_error', 'The provider failed to answer. Nothing was charged. Try again, or choose another model.', {
    cause: thrown,
  });
}

const MISCONFIGURED = 'The provider rejected the credentials or settings of this service. The operator has been alerted.';
const RATE_LIMITED = 'The provider of this model is receiving more requests than it allows. Please try again later.';
const TOO_LARGE = 'The request has more tokens than the provider accepts from this service at once. Send a shorter request.';

/** Whether another route, or another try, may succeed where this one failed. */
export function mayTryNext(error: GatewayError): boolean {
  return error.status === 500 || error.status === 429 || isRouteSpecific(error);
}

/** Whether only this route cannot carry the request: its dialect cannot express it, or it exceeds our limit there. Another route may. */
export function isRouteSpecific({ status, errorName, details }: GatewayError): boolean {
  return status === 400 && (errorName !== 'provider_refused' || details.isUnsent === true);
}

/** Whether the operator must fix the fault: a wrong key, an unpaid bill, a missing model. Clients cannot change any of these. */
function isOperatorFault(fault: ProviderFault): boolean {
  const { status, code } = fault;
  return status === 401 || status === 402 || status === 403 || status === 404 || (status === 429 && code === 'insufficient_quota');
}

/** Reads how many seconds to wait: from the header that OpenAI's clients prefer, or as seconds or a date, the two forms that HTTP allows. */
function readRetryAfter({ headers }: FaultContext): number {
  const milliseconds = headers?.get('retry-after-ms');
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  const header = headers?.get('retry-after');
  if (header === undefined) return RETRY_SECONDS_DEFAULT;
  return /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
}

/** Bounds the wait, because a client that is asked to wait for a day gives up. */
function bound(seconds: number): number {
  return Number.isFinite(seconds) ? Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)) : RETRY_SECONDS_DEFAULT;
}

/** Bounds the text, and redacts our credentials. */
function shown(text: string, { credentials }: FaultContext): string {
  const redacted = redact(text, credentials);
  return redacted.length > MESSAGE_CHARACTERS_MAX ? `${redacted.slice(0, MESSAGE_CHARACTERS_MAX)}…` : redacted;
}
