import { isObject, objectOf, objectsOf, type JsonObject } from '../openai/types.ts';
import { ProviderFault } from './dialect.ts';

/**
 * Reads any host's error body: wrapped in `error` or bare, with a plain string as the error or a number as the code.
 * The HTTP status takes precedence. For a 200, the status is taken from the body, if it has one.
 */
export function readFault(text: string, status: number | undefined): ProviderFault {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return faultOfStatus(status);
  }
  const body = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return faultOfStatus(status);
  const error = body['error'] ?? body;
  return toFault(isObject(error) ? error : { message: error, code: body['code'] }, status);
}

/** Returns the fault of a response of which only the status is usable, such as a proxy's page. */
export function faultOfStatus(status: number | undefined): ProviderFault {
  return new ProviderFault(status === undefined ? 'The provider sent no stream' : `The provider answered with status ${status}`, {
    status,
  });
}

/**
 * Throws if the body reports an error, inside a 200 or mid-stream: under `error`, under Groq's `x_groq`, or as the
 * whole body (vLLM, Mistral).
 */
export function refuseError(body: JsonObject): void {
  if (body['error'] === undefined && body['x_groq'] === undefined && body['object'] !== 'error') return;
  const ofGroq = isObject(body['x_groq']) ? body['x_groq']['error'] : undefined;
  const error = [body['error'], ofGroq, body['object'] === 'error' ? body : undefined].find(isReported);
  if (error !== undefined) throw toFault(isObject(error) ? error : { message: error, code: body['code'] });
  // Some SDKs take an empty `error` object for an error.
  if ('error' in body) delete body['error'];
}

/** Some hosts send an empty `error` with every answer. */
function isReported(error: unknown): boolean {
  return typeof error === 'object' && error !== null ? Object.keys(error).length > 0 : Boolean(error);
}

/** Matches the ways hosts report an over-long conversation. Most omit OpenAI's error code, which clients rely on to shorten it. */
const TOO_LONG =
  /maximum (?:context|prompt) length|exceeds? the (?:available context size|context window|model's (?:maximum )?context)|longer than the model's context length|reduce the length of the messages|prompt is too long/iu;

/**
 * Statuses for errors inside a 200 that state none. The code is looked up before the type, because OpenAI gives a wrong
 * key the type `invalid_request_error` too.
 */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['context_length_exceeded', 400],
  ['invalid_request_error', 400],
  ['BadRequestError', 400],
  ['invalid_api_key', 401],
  ['model_not_found', 404],
  ['insufficient_quota', 429],
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
]);

/** Turns an error object into a fault, with the status that it came with, states or implies. */
export function toFault(error: JsonObject, status?: number): ProviderFault {
  const { code, type, param } = error;
  const message = readMessage(error) ?? 'The provider reported an error';
  const word = readWord(error, message);
  const reported = [status, code, error['status_code'], error['status']].map(readStatus).find((each) => each !== undefined);
  const fault = new ProviderFault(message, {
    status: reported ?? STATUSES.get(word) ?? STATUSES.get(type),
    code: word,
    param: typeof param === 'string' ? param : undefined,
  });
  return asMeant(fault, error);
}

/** Corrects the faults whose status blames the wrong side: the caller for the operator's mistake, or the other way round. */
function asMeant(fault: ProviderFault, error: JsonObject): ProviderFault {
  const { status, code, message, param } = fault;
  // xAI reports a wrong key as an invalid request.
  if (status === 400 && (code === 'invalid_api_key' || WRONG_KEY.test(message)))
    return new ProviderFault(message, { status: 401, code, param });
  if (status === 403 && isFlagged(error, message))
    return new ProviderFault(withoutAccount(message), { status: 400, code: 'content_policy_violation', param: 'messages' });
  // None of the hosts behind OpenRouter can do what the request asks for. Another provider may.
  if (status === 404 && NO_ENDPOINT.test(message))
    return new ProviderFault(message, { status: 400, code: 'unsupported_value', isUnsent: true });
  // OpenAI's limit on one request. Unlike other limits it does not pass with time; Groq gives it a status of its own.
  if (status === 429 && TOO_LARGE.test(message)) return new ProviderFault(message, { status: 413, code: 'rate_limit_exceeded' });
  return fault;
}

const WRONG_KEY = /^(?:incorrect|invalid) api key/iu;
const NO_ENDPOINT = /^no endpoints found that support/iu;
const TOO_LARGE = /^request too large/iu;
const FLAGGED = /violates usage guidelines|requires moderation|input was flagged/iu;

/** xAI and OpenRouter refuse a flagged prompt as if its sender lacked a permission. */
function isFlagged(error: JsonObject, message: string): boolean {
  return FLAGGED.test(message) || objectOf(error['metadata'])['flagged_input'] !== undefined;
}

/** xAI names the operator's team and key in the same line. */
function withoutAccount(message: string): string {
  return message.replace(/\s*\bTeam: .*/su, '');
}

/** The word that programs decide by. Some hosts report an unpaid bill only as the error's type. */
function readWord({ code, type }: JsonObject, message: string): string | undefined {
  if (TOO_LONG.test(message)) return 'context_length_exceeded';
  if (typeof code === 'string' && !/^\d{3}$/.test(code)) return code;
  return type === 'insufficient_quota' ? type : undefined;
}

function readStatus(value: unknown): number | undefined {
  const status = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return status >= 400 && status <= 599 ? status : undefined;
}

/** Hosts built on FastAPI put the message in `detail`, as a text or a list of complaints. Mistral puts that list into `message`. */
function readMessage({ message, detail }: JsonObject): string | undefined {
  const [complaint = {}] = [detail, message, objectOf(message)['detail']].flatMap(objectsOf);
  const texts = [message, detail, describeComplaint(complaint)];
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}

/** A complaint such as "Extra inputs are not permitted" says little without the place that it is about. */
function describeComplaint({ msg, loc }: JsonObject): unknown {
  const place = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : '';
  return place === '' || typeof msg !== 'string' ? msg : `${place}: ${msg}`;
}
