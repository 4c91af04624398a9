import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import type { ProviderFault } from '../../../src/providers/dialect.ts';

const error = (type: string, text_: string, more: JsonObject = {}): string =>
  JSON.stringify({ type: 'error', error: { type, message: text_, ...more }, request_id: 'req_1' });

describe('an error response', () => {
  test.each<[string, string, number | undefined, Partial<ProviderFault>]>([
    [
      'an invalid request',
      error('invalid_request_error', 'max_tokens: too many'),
      400,
      { status: 400, param: 'max_tokens', message: 'max_tokens: too many' },
    ],
    [
      'an invalid field that callers know under another name',
      error('invalid_request_error', 'stop_sequences.0: blank'),
      422,
      { status: 400, param: 'stop' },
    ],
    [
      'an invalid request without a field',
      error('invalid_request_error', 'Broken'),
      400,
      { status: 400, param: undefined, code: undefined },
    ],
    [
      'an over-long conversation',
      error('invalid_request_error', 'prompt is too long: 2 tokens > 1 maximum'),
      400,
      { status: 400, code: 'context_length_exceeded' },
    ],
    ['our key', error('authentication_error', 'invalid x-api-key'), 401, { status: 401 }],
    ['our bill', error('billing_error', 'Pay'), 402, { status: 402, code: 'insufficient_quota' }],
    [
      'our spending limit',
      error('invalid_request_error', 'Limit', { details: { error_code: 'enforced_spend_limit_reached' } }),
      400,
      { status: 429, code: 'insufficient_quota' },
    ],
    [
      'our credit',
      error('invalid_request_error', 'Your credit balance is too low to access the API'),
      400,
      { status: 429, code: 'insufficient_quota' },
    ],
    ['an unknown model', error('not_found_error', 'model: x'), 404, { status: 404, code: 'model_not_found' }],
    ['a request that is too large', error('request_too_large', 'Large'), 413, { status: 413 }],
    ['a rate limit', error('rate_limit_error', 'Slow down'), 429, { status: 429, code: 'rate_limit_exceeded' }],
    ['an overloaded provider', error('overloaded_error', 'Overloaded'), 529, { status: 529, code: 'overloaded' }],
    ['an error in a 200', error('api_error', ''), undefined, { status: 500, message: 'The provider reported api_error' }],
    [
      'an error from Google',
      '[{"error":{"code":403,"message":"Denied","status":"PERMISSION_DENIED"}}]',
      403,
      { status: 403, message: 'Denied' },
    ],
    ['an HTML page', '<html>', 502, { status: 502 }],
  ])('%s', (_, body, status, fault) => {
    expect(anthropic.decodeFault(body, status, () => null)).toMatchObject(fault);
  });
});
