import { filledText } from '../../openai/types.ts';
import { readObject } from '../parse-object.ts';
import { ProviderFault } from '../dialect.ts';
import { lookUp } from '../look-up.ts';

/** The status of each exception, for exceptions inside a stream and where the HTTP status is too vague. */
const STATUSES: Readonly<Record<string, number>> = {
  validationexception: 400,
  accessdeniedexception: 403,
  unrecognizedclientexception: 403,
  expiredtokenexception: 403,
  resourcenotfoundexception: 404,
  modeltimeoutexception: 408,
  throttlingexception: 429,
  modelnotreadyexception: 429,
  // Our own quota, reported as an invalid request.
  servicequotaexceededexception: 429,
  internalserverexception: 500,
  modelerrorexception: 424,
  modelstreamerrorexception: 424,
  serviceunavailableexception: 503,
};

/** Reads an error response. The exception name is in a header, the message in the body. */
export function decodeFault(text: string, status: number | undefined, header: (name: string) => string | null): ProviderFault {
  const body = readObject(text) ?? {};
  const reported = header('x-amzn-errortype') ?? body['__type'] ?? body['code'];
  // The name may have a namespace before it and an address after it.
  const type = typeof reported === 'string' ? (reported.split(':')[0]?.split('#').at(-1) ?? '') : '';
  return toFault(type, body['message'] ?? body['Message'], status);
}

/** Returns the fault for an exception inside a stream. */
export function faultOfException(data: string): ProviderFault {
  const body = readObject(data) ?? {};
  return toFault(String(body['type']), body['message'] ?? body['Message'], undefined);
}

/** Converse's own complaint about an over-long conversation, and those of the models behind it. */
const TOO_LONG =
  /(?:input|prompt) is too long|maximum context length|exceeds? the (?:maximum|context)|exceeds? context limit|input tokens exceeds maximum/iu;

function toFault(type: string, message: unknown, status: number | undefined): ProviderFault {
  const known = lookUp(STATUSES, type.toLowerCase());
  const text = filledText(message) ?? `The provider answered with ${type === '' ? `status ${status}` : type}`;
  // Clients act on the code for an over-long conversation.
  const isTooLong = TOO_LONG.test(text);
  return new ProviderFault(text, {
    status: known ?? status ?? 502,
    code: isTooLong && (known ?? status) === 400 ? 'context_length_exceeded' : type === '' ? undefined : type,
  });
}
