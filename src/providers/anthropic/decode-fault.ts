import { filledText, isObject, objectOf, type JsonObject } from '../../openai/types.ts';
import { readFault } from '../read-fault.ts';
import { readObject } from '../parse-object.ts';
import { ProviderFault } from '../dialect.ts';
import { lookUp } from '../look-up.ts';

/** Reads an error response. One that is not Anthropic's own, such as a proxy's, is read like any other host's. */
export function decodeFault(text: string, status: number | undefined): ProviderFault {
  const { type, error } = readObject(text) ?? {};
  return type === 'error' && isObject(error) ? toFault(error, status) : readFault(text, status);
}

/** Turns an error object, from a response or mid-stream, into a fault with the matching status. */
export function toFault(error: JsonObject, status?: number): ProviderFault {
  const type = String(error['type']);
  const message = filledText(error['message']) ?? `The provider reported ${type}`;
  // The operator's budget at the provider is used up, which the provider reports as an invalid request.
  if (isOutOfMoney(error, message)) return new ProviderFault(message, { status: 429, code: 'insufficient_quota' });
  const reported = status ?? lookUp(STATUSES, type);
  return new ProviderFault(message, {
    status: reported === 422 ? 400 : reported,
    code: TOO_LONG.test(message) ? 'context_length_exceeded' : lookUp(CODES, type),
    param: lookUp(PARAMS, /^([a-z_]+)[.:]/.exec(message)?.[1]),
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

/** Errors begin with the field they complain about, in the provider's spelling. This maps it to the caller's. */
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
