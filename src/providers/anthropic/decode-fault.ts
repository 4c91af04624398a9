import { isObject, objectOf, type JsonObject } from '../../openai/types.ts';
import { readFault } from '../openai.ts';
import { readObject } from '../parse-object.ts';
import { ProviderFault } from '../provider.ts';

/** Reads an error answer. One that is not the provider's own, such as a proxy's, is read as any other host's. */
export function decodeFault(text: string, status: number | undefined): ProviderFault {
  const { type, error } = readObject(text) ?? {};
  return type === 'error' && isObject(error) ? toFault(error, status) : readFault(text, status);
}

/** Turns an error object, from an answer or from the middle of a stream, into a fault with the status it stands for. */
export function toFault(error: JsonObject, status?: number): ProviderFault {
  const type = String(error['type']);
  const message = typeof error['message'] === 'string' && error['message'] !== '' ? error['message'] : `The provider reported ${type}`;
  // Our own budget there is used up, which the provider spells as a mistake in the request.
  if (isOutOfMoney(error, message)) return new ProviderFault(message, { status: 429, code: 'insufficient_quota' });
  const told = status ?? STATUSES[type];
  return new ProviderFault(message, {
    status: told === 422 ? 400 : told,
    code: TOO_LONG.test(message) ? 'context_length_exceeded' : CODES[type],
    param: PARAMS[/^([a-z_]+)[.:]/.exec(message)?.[1] ?? ''],
  });
}

const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const CODES: Readonly<Record<string, string>> = {
  not_found_error: 'model_not_found',
  rate_limit_error: 'rate_limit_exceeded',
  billing_error: 'insufficient_quota',
  overloaded_error: 'overloaded',
};

const TOO_LONG = /prompt is too long|exceeds? (?:the )?context (?:limit|window)/i;

/** Errors begin with the field that they complain about, in the provider's spelling; the caller knows it by another. */
const PARAMS: Readonly<Record<string, string>> = {
  max_tokens: 'max_tokens',
  messages: 'messages',
  metadata: 'user',
  output_config: 'response_format',
  stop_sequences: 'stop',
  system: 'messages',
  temperature: 'temperature',
  thinking: 'reasoning_effort',
  tool_choice: 'tool_choice',
  tools: 'tools',
  top_k: 'top_k',
  top_p: 'top_p',
};

function isOutOfMoney(error: JsonObject, message: string): boolean {
  return objectOf(error['details'])['error_code'] === 'enforced_spend_limit_reached' || /credit balance is too low/i.test(message);
}
