import { describe, expect, test } from 'bun:test';
import { errorBody, errorHeaders, ERRORS, GatewayError, toGatewayError, type ErrorName } from '../src/errors.ts';

const NAMES = Object.keys(ERRORS) as ErrorName[];
const STATUSES = [400, 401, 403, 404, 429, 500];
const TYPES = ['invalid_request_error', 'insufficient_quota', 'requests', 'tokens', 'server_error'];

function bodyOf(error: GatewayError): { message: string; type: string; param: string | null; code: string | null } {
  const body = JSON.parse(errorBody(error)) as { error: ReturnType<typeof bodyOf> };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code']);
  return body.error;
}

describe('every error of the table', () => {
  test.each(NAMES)('%s has a documented status and all four keys', (name) => {
    const error = new GatewayError(name, 'What to do.');
    expect(STATUSES).toContain(error.status);
    const { message, type, param, code } = bodyOf(error);
    expect({ message, param }).toEqual({ message: 'What to do.', param: null });
    expect(TYPES).toContain(type);
    expect(code === null || /^[a-z][a-z0-9_]*$/u.test(code)).toBe(true);
  });

  test.each(NAMES)('%s tells SDKs whether to retry', (name) => {
    const error = new GatewayError(name, 'What to do.');
    const headers = errorHeaders(error);
    expect(headers['content-type']).toBe('application/json');
    const mayRetry = headers['x-should-retry'] === undefined;
    expect(mayRetry ? undefined : headers['x-should-retry']).toBe(mayRetry ? undefined : 'false');
    // A bad request stays bad. SDKs retry 429 and 500 unless told otherwise.
    if (error.status < 429) expect(mayRetry).toBe(false);
    expect(Object.keys(headers).filter((header) => header.startsWith('retry-after'))).toEqual([]);
  });

  test.each<[ErrorName, number, string, string | null]>([
    ['invalid_json', 400, 'invalid_request_error', null],
    ['invalid_value', 400, 'invalid_request_error', 'invalid_value'],
    ['missing_api_key', 401, 'invalid_request_error', null],
    ['invalid_api_key', 401, 'invalid_request_error', 'invalid_api_key'],
    ['insufficient_quota', 403, 'insufficient_quota', 'insufficient_quota'],
    ['model_not_found', 404, 'invalid_request_error', 'model_not_found'],
    ['rate_limit_exceeded', 429, 'requests', 'rate_limit_exceeded'],
    ['tokens_limit_exceeded', 429, 'tokens', 'rate_limit_exceeded'],
    ['too_many_concurrent_requests', 429, 'requests', 'rate_limit_exceeded'],
    ['internal_error', 500, 'server_error', 'internal_error'],
  ])('%s has the status, type and code of the dialect', (name, status, type, code) => {
    const error = new GatewayError(name, 'What to do.');
    expect(error.status).toBe(status as typeof error.status);
    expect(bodyOf(error)).toMatchObject({ type, code });
  });

  test.each(['tokens_above_limit', 'provider_misconfigured'] as const)('%s is not retried, although its status suggests it', (name) => {
    expect(errorHeaders(new GatewayError(name, 'What to do.'))['x-should-retry']).toBe('false');
  });
});

describe('the details of an error', () => {
  test("set the field, the provider's code and extra headers", () => {
    const error = new GatewayError('provider_refused', 'No.', { param: 'top_p', code: 'unsupported_value', headers: { 'x-more': '1' } });
    expect(bodyOf(error)).toEqual({ message: 'No.', type: 'invalid_request_error', param: 'top_p', code: 'unsupported_value' });
    expect(errorHeaders(error)).toEqual({ 'content-type': 'application/json', 'x-should-retry': 'false', 'x-more': '1' });
  });

  test.each([
    [0, '1', '1'],
    [0.2, '1', '200'],
    [1, '1', '1000'],
    [1.0001, '2', '1001'],
    [1.01, '2', '1010'],
    [59.9, '60', '59900'],
    [-3, '1', '1'],
  ])('ask for a wait in whole seconds, at least one, and in milliseconds: %p', (retryAfterSeconds, seconds, milliseconds) => {
    const headers = errorHeaders(new GatewayError('rate_limit_exceeded', 'Wait.', { retryAfterSeconds }));
    expect([headers['retry-after'], headers['retry-after-ms']]).toEqual([seconds, milliseconds]);
  });

  test.each([
    [60, undefined],
    [60.1, 'false'],
    [3600, 'false'],
  ])('ask for no retry after a wait longer than SDKs honour: %p', (retryAfterSeconds, header) => {
    const headers = errorHeaders(new GatewayError('budget_slowed', 'Wait.', { retryAfterSeconds }));
    expect(headers['x-should-retry']).toBe(header as string);
  });

  test('survive as JSON with any text', () => {
    const message = 'Quotes "\' \\ and \n lines \u2028 and ☕';
    expect(bodyOf(new GatewayError('invalid_value', message)).message).toBe(message);
  });
});

describe('anything thrown', () => {
  const cause = new TypeError('c4n4ry at /home/secret');
  test.each<[string, unknown]>([
    ['an error', cause],
    ['an error inside an error', new Error('c4n4ry', { cause })],
    ['a text', 'c4n4ry'],
    [
      'an object that looks like our own error',
      { name: 'GatewayError', errorName: 'invalid_value', status: 400, message: 'c4n4ry', details: {} },
    ],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('c4n4ry')],
  ])('%s becomes an internal error without its text', (_, thrown) => {
    const error = toGatewayError(thrown);
    expect(error).toMatchObject({ errorName: 'internal_error', status: 500 });
    expect(error.cause).toBe(thrown);
    expect(errorBody(error)).not.toContain('c4n4ry');
    expect(JSON.stringify(errorHeaders(error))).not.toContain('c4n4ry');
    expect(bodyOf(error)).toMatchObject({ type: 'server_error', code: 'internal_error' });
  });

  test('that is our own error stays as it is', () => {
    const error = new GatewayError('model_not_found', 'No such model.');
    expect(toGatewayError(error)).toBe(error);
  });
});
