import { filledText, isObject, objectsOf, type JsonObject } from '../../openai/types.ts';
import { asObject, parseJson } from '../parse-object.ts';
import { ProviderFault } from '../dialect.ts';
import { lookUp } from '../look-up.ts';
import { faultOfStatus } from '../read-fault.ts';

/** Reads an error response. */
export function decodeFault(text: string, status: number | undefined): ProviderFault {
  try {
    const error = readError(parseBody(text));
    if (error !== undefined) return toFault(error, status);
  } catch {
    // Not JSON.
  }
  return faultOfStatus(status);
}

/** Parses the body of an answer or an event. The streaming address wraps errors in a list. */
export function parseBody(text: string): JsonObject {
  const value = parseJson(text, '"functionCall"');
  return asObject(Array.isArray(value) ? value[0] : value);
}

/** Parses an answer, and throws if it is an error, with the matching status. */
export function parseAnswer(text: string): JsonObject {
  const body = parseBody(text);
  const error = readError(body);
  if (error !== undefined) throw toFault(error, undefined);
  return body;
}

function readError(body: JsonObject): JsonObject | undefined {
  return isObject(body['error']) ? body['error'] : undefined;
}

const STATUSES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  DATA_LOSS: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

function toFault(error: JsonObject, httpStatus: number | undefined): ProviderFault {
  const { message } = error;
  const details = objectsOf(error['details']);
  const text = filledText(message) ?? 'The provider reported an error';
  // Google reports an invalid key as an invalid request, which would blame the caller. The same goes for an unsupported
  // location and missing billing.
  const isOurKey = details.some(({ reason }) => reason === 'API_KEY_INVALID');
  const isOurSetup = error['status'] === 'FAILED_PRECONDITION' && /user location|country|billing/iu.test(text);
  return new ProviderFault(text, {
    status: isOurKey || isOurSetup ? 401 : (httpStatus ?? statusOf(error)),
    code: codeOf(text, details),
    retryAfterSeconds: readRetryDelay(details),
  });
}

function statusOf({ code, status }: JsonObject): number | undefined {
  if (typeof code === 'number' && code >= 400 && code <= 599) return code;
  return lookUp(STATUSES, status);
}

function codeOf(message: string, details: readonly JsonObject[]): string | undefined {
  if (/token count.*(?:exceeds the maximum|only supports up to)/i.test(message)) return 'context_length_exceeded';
  // A daily quota is not restored within any reasonable wait.
  return details.some(hasDailyQuota) ? 'insufficient_quota' : undefined;
}

function hasDailyQuota({ violations }: JsonObject): boolean {
  return objectsOf(violations).some(({ quotaId }) => /PerDay/i.test(String(quotaId)));
}

/** Reads the retry delay. Google puts it in the body, as `34s` or `34.07s`, and not in a header. */
function readRetryDelay(details: readonly JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay));
    if (match !== null) return Number(match[1]);
  }
  return undefined;
}
