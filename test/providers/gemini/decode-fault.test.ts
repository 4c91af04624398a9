import { describe, expect, test } from 'bun:test';
import { gemini } from '../../../src/providers/gemini/gemini.ts';
import type { ProviderFault } from '../../../src/providers/dialect.ts';

function decode(body: unknown, status: number | undefined): ProviderFault {
  return gemini.decodeFault(typeof body === 'string' ? body : JSON.stringify(body), status, () => null);
}

const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' };
const quota = (quotaId: string): object => ({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] });
const limited = (...details: unknown[]): object => ({
  error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED', details },
});

describe('an error from Google', () => {
  test.each<[string, body: unknown, status: number | undefined, fault: Partial<ProviderFault>]>([
    [
      'an invalid request',
      { error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } },
      400,
      { status: 400, message: 'Bad', code: undefined },
    ],
    ['an error in a list', [{ error: { code: 404, message: 'Gone', status: 'NOT_FOUND' } }], 404, { status: 404, message: 'Gone' }],
    [
      'our own invalid key',
      { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } },
      400,
      { status: 401 },
    ],
    [
      'our own unsupported location or missing billing',
      { error: { code: 400, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' } },
      400,
      { status: 401 },
    ],
    ['a failed precondition', { error: { code: 400, message: 'Not ready', status: 'FAILED_PRECONDITION' } }, 400, { status: 400 }],
    ['a retry delay', limited(retry), 429, { status: 429, retryAfterSeconds: 34.5, code: undefined }],
    [
      'a retry delay after other details',
      limited(null, quota('GenerateRequestsPerMinute'), retry),
      429,
      { retryAfterSeconds: 34.5, code: undefined },
    ],
    ['a daily quota', limited(quota('GenerateRequestsPerDayPerProject'), retry), 429, { code: 'insufficient_quota' }],
    ['an invalid retry delay', limited({ retryDelay: 'soon' }), 429, { retryAfterSeconds: undefined }],
    [
      'an over-long prompt',
      { error: { code: 400, message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).' } },
      400,
      { status: 400, code: 'context_length_exceeded' },
    ],
    [
      'an over-long prompt in other words',
      {
        error: {
          code: 400,
          message: 'Unable to submit request because the input token count is 32825 but model only supports up to 32768.',
        },
      },
      400,
      { status: 400, code: 'context_length_exceeded' },
    ],
    ['an error without a message', { error: { code: 500 } }, 500, { status: 500, message: 'The provider reported an error' }],
    ['an HTML page', '<html>Bad gateway</html>', 502, { status: 502, message: 'The provider answered with status 502' }],
    ['another body', { message: 'No' }, 403, { status: 403, message: 'The provider answered with status 403' }],
    ['no stream', '', undefined, { status: undefined, message: 'The provider sent no stream' }],
  ])('is read: %s', (_, body, status, fault) => {
    expect(decode(body, status)).toMatchObject(fault);
  });

  test.each([
    [{ code: 503 }, 503],
    [{ code: 8, status: 'RESOURCE_EXHAUSTED' }, 429],
    [{ status: 'INVALID_ARGUMENT' }, 400],
    [{ status: 'UNAUTHENTICATED' }, 401],
    [{ status: 'PERMISSION_DENIED' }, 403],
    [{ status: 'ABORTED' }, 409],
    [{ status: 'CANCELLED' }, 499],
    [{ status: 'INTERNAL' }, 500],
    [{ status: 'UNIMPLEMENTED' }, 501],
    [{ status: 'DEADLINE_EXCEEDED' }, 504],
    [{ status: 'toString' }, undefined],
    [{}, undefined],
  ])('inside a 200 is mapped to a status: %j', (error, status) => {
    expect(decode({ error }, undefined).status).toBe(status);
  });
});
