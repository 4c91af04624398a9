import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts';
import type { ProviderFault } from '../../../src/providers/provider.ts';

const error = (type: string, text_: string, more: JsonObject = {}): string =>
  JSON.stringify({ type: 'error', error: { type, message: text_, ...more }, request_id: 'req_1' });

describe('an error answer', () => {
  test.each<[string, string, number | undefined, Partial<ProviderFault>]>([
    [
      'a mistake',
      error('invalid_request_error', 'max_tokens: too many'),
      400,
      { status: 400, param: 'max_tokens', message: 'max_tokens: too many' },
    ],
    [
      'a mistake in a field that callers know by another name',
      error('invalid_request_error', 'stop_sequences.0: blank'),
      422,
      { status: 400, param: 'stop' },
    ],
    ['a mistake somewhere', error('invalid_request_error', 'Broken'), 400, { status: 400, param: undefined, code: undefined }],
    [
      'too long',
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
    ['no such model', error('not_found_error', 'model: x'), 404, { status: 404, code: 'model_not_found' }],
    ['too large', error('request_too_large', 'Large'), 413, { status: 413 }],
    ['too many', error('rate_limit_error', 'Slow down'), 429, { status: 429, code: 'rate_limit_exceeded' }],
    ['too busy', error('overloaded_error', 'Overloaded'), 529, { status: 529, code: 'overloaded' }],
    ['an error in a 200', error('api_error', ''), undefined, { status: 500, message: 'The provider reported api_error' }],
    [
      'an error of Google',
      '[{"error":{"code":403,"message":"Denied","status":"PERMISSION_DENIED"}}]',
      403,
      { status: 403, message: 'Denied' },
    ],
    ['a page', '<html>', 502, { status: 502 }],
  ])('%s', (_, body, status, fault) => {
    expect(anthropic.decodeFault?.(body, status, () => null)).toMatchObject(fault);
  });
});
